// Package permits makes the journal's permits for tests of bot and its egress: a real journal in a folder of the test,
// and one mark for each permit. Only tests import it.
package permits

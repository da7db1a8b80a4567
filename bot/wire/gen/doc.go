// Command gen writes the generated files of package wire from the npm package minecraft-data:
//
//	go run ./bot/wire/gen -data fixtures/peers/node_modules/minecraft-data -out bot/wire
//
// In: protocol.json of each version, the list of packets (list.go), corrections of known errors (correct.go). Out: packet
// ids by version (zz_ids.go) and schemas of values without a length (zz_schema.go). Equal input gives equal output; a test
// compares it with what is committed.
package main

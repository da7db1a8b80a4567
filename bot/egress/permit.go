package egress

import "blockworld/sentinel/journal"

// Permit is the journal's durable sent mark of one action: only the journal can make one, and it opens once. A function
// that takes one therefore writes nothing that was not admitted and marked first.
type Permit = journal.Sent

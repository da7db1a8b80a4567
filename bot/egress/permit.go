package egress

// Permit is the journal's durable sent mark of one action; opening it is what allows the action's packets. It opens
// once. The journal is the only maker of permits outside tests.
type Permit interface {
	Open() error
}

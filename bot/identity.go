package bot

import (
	"strconv"
	"strings"
)

// Identity is what a client can know about which server it is on: the address as typed, and what the play login told.
// It is weak, since nothing in it is signed by the server.
type Identity struct {
	Address    string
	HashedSeed int64
	Dimensions []string // names of all dimensions, in the server's order
}

// Equal compares all parts.
func (i Identity) Equal(o Identity) bool {
	return i.Address == o.Address && i.world() == o.world()
}

// world is the identity without the address: two addresses of one server share it.
func (i Identity) world() string {
	return strconv.FormatInt(i.HashedSeed, 16) + " " + strings.Join(i.Dimensions, " ")
}

// String is one line for people and logs.
func (i Identity) String() string {
	return i.Address + " (seed hash " + strconv.FormatUint(uint64(i.HashedSeed), 16) + ", " + strings.Join(i.Dimensions, ", ") + ")"
}

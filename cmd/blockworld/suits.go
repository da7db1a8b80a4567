package main

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blockworld/sentinel/profile"
	"blockworld/worldstate/registry"
)

// suits compares what a profile says of its server with what a session sees, and names the first difference; empty when
// there is none. Brand and game mode may change without the proofs changing, so they are not compared. An
// optional field that is missing says nothing.
func suits(p *profile.Profile, seen *land) string {
	seed := strconv.FormatUint(uint64(seen.who.HashedSeed), 16)
	switch s := &p.Server; {
	case s.Identity != seen.identity:
		return fmt.Sprintf("is of %s, this is %s", s.Identity, seen.identity)
	case !strings.EqualFold(p.Address, seen.who.Address):
		return fmt.Sprintf("is of the address %s, this is %s", p.Address, seen.who.Address)
	case s.HashedSeed != "" && !sameHex(s.HashedSeed, seed):
		return fmt.Sprintf("names hashed_seed %s, this server has %s", s.HashedSeed, seed)
	case len(s.Dimensions) > 0 && !slices.Equal(s.Dimensions, seen.who.Dimensions):
		return fmt.Sprintf("names the dimensions %s, this server has %s", strings.Join(s.Dimensions, ", "), strings.Join(seen.who.Dimensions, ", "))
	case s.Protocol != int32(seen.reg.Protocol()):
		return fmt.Sprintf("was found with protocol %s, this session speaks %s", registry.Protocol(s.Protocol), seen.reg.Protocol())
	}
	return ""
}

// forAccount is the profile as it holds for the account of a session. What a server can prove does not depend on who asks,
// but that it counted a use holds only for whom it counted. Another says whether another account had found the profile.
func forAccount(p *profile.Profile, seen *land) (own profile.Profile, another bool) {
	own = *p
	if p.Account == "" || strings.EqualFold(p.Account, hex.EncodeToString(seen.account[:])) {
		return own, false
	}
	if own.Used == profile.UsedCounted {
		own.Used = profile.UsedExpected
	}
	return own, true
}

// sameHex compares two hexadecimal numbers as numbers.
func sameHex(a, b string) bool {
	x, errX := strconv.ParseUint(a, 16, 64)
	y, errY := strconv.ParseUint(b, 16, 64)
	return errX == nil && errY == nil && x == y
}

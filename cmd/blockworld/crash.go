package main

import (
	"os"
	"strconv"
	"strings"

	"blockworld/sentinel/journal"
)

// crashPoint reads BLOCKWORLD_CRASH, "POINT" or "POINT:N": the process kills itself as `kill -9` would at the N-th time
// (the first by default) that it comes by that point. It is for tests of recovery and nil without the variable.
func crashPoint(getenv func(string) string) func(journal.Point) {
	name, count, _ := strings.Cut(getenv("BLOCKWORLD_CRASH"), ":")
	if name == "" {
		return nil
	}
	left, err := strconv.Atoi(count)
	if err != nil {
		left = 1
	}
	return func(p journal.Point) {
		if string(p) != name {
			return
		}
		if left--; left == 0 {
			if self, err := os.FindProcess(os.Getpid()); err == nil {
				self.Kill()
			}
			select {} // the kill is on its way; nothing more may happen
		}
	}
}

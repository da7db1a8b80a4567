package api

import (
	"fmt"
	"runtime"
	"strings"
)

// panicPlace names the innermost function of this module below a panic that is being recovered, with its line.
func panicPlace() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasPrefix(f.Function, "blockworld/") && !strings.Contains(f.Function, "ServeHTTP.func") {
			return fmt.Sprintf("%s:%d", f.Function, f.Line)
		}
		if !more {
			return "unknown"
		}
	}
}

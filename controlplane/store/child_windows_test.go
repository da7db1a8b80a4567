package store

import "os/exec"

func asNobody(*exec.Cmd, string) bool { return false }

// fillChild has no limit on file sizes to work under here.
func fillChild(string) {}

package journal

// fillChild has no limit on file sizes to work under here.
func fillChild(string) {}

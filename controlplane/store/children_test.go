package store

func workChild(path, job string) {}
func fillChild(path string)      {}

package boltfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestWriteWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	holds := func(want string) {
		t.Helper()
		if data, err := os.ReadFile(path); err != nil || string(data) != want {
			t.Errorf("it holds %q, %v; want %q", data, err, want)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*.tmp")); err != nil || len(left) > 0 {
			t.Error("left behind:", left, err)
		}
	}
	for _, text := range []string{"a longer one", "short", ""} {
		if err := WriteWhole(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		holds(text)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
	if err := WriteWhole(filepath.Join(dir, "none", "x"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error("into a folder that is not there:", err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := WriteWhole(filepath.Join(dir, "folder"), []byte("x")); err == nil {
		t.Error("a folder was replaced")
	}
	holds("")
	t.Chdir(dir)
	if err := WriteWhole("x", []byte("here")); err != nil {
		t.Fatal(err)
	}
	holds("here")
}

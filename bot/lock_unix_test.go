//go:build unix

package bot

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blockworld/worldstate/registry"
)

// TestLockIgnoresEnvironment: no variable leads a second bot of the same account past the first one's lock.
func TestLockIgnoresEnvironment(t *testing.T) {
	hold := standing((*peer).drain)
	opts := serve(t, registry.Latest, hold, hold)
	opts.RuntimeDir, opts.Username = "", "LockTest"
	before, err := LockFolders()
	if err != nil {
		t.Fatal(err)
	}
	_, stop := joined(t, opts)
	defer stop()
	for _, name := range []string{"XDG_RUNTIME_DIR", "TMPDIR", "TMP", "HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, t.TempDir())
	}
	if after, err := LockFolders(); err != nil || !slices.Equal(before, after) {
		t.Errorf("%v became %v, %v", before, after, err)
	}
	if _, err := Join(t.Context(), opts); !errors.Is(err, ErrInUse) {
		t.Errorf("a second bot of the account: %v", err)
	}
}

// TestOwnFolder refuses folders where somebody else could take a lock away.
func TestOwnFolder(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Symlink(t.TempDir(), at("link")), os.WriteFile(at("file"), nil, 0o600), os.Mkdir(at("open"), 0o700), os.Chmod(at("open"), 0o777)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "file", "open"} {
		if err := ownFolder(at(name)); !errors.Is(err, ErrLockFolder) || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range 2 {
		if err := ownFolder(at("new")); err != nil {
			t.Error(err)
		}
	}
	if os.Getuid() == 0 {
		if err := errors.Join(os.Mkdir(at("foreign"), 0o700), os.Chown(at("foreign"), 12345, 12345)); err != nil {
			t.Fatal(err)
		}
		if err := ownFolder(at("foreign")); !errors.Is(err, ErrLockFolder) {
			t.Errorf("another user's folder: %v", err)
		}
	}
}

// TestLockFiles: a lock is one holder's in all folders, leaves nothing behind, and follows no link.
func TestLockFiles(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	both := []string{one, two}
	l, err := takeLock(both, "A on b", "x")
	if err != nil {
		t.Fatal(err)
	}
	for _, dirs := range [][]string{both, {one}, {two}} {
		if _, err := takeLock(dirs, "A on b", "x"); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), "A on b") {
			t.Errorf("%v: %v", dirs, err)
		}
	}
	l.release()
	if left, _ := filepath.Glob(filepath.Join(one, "*")); len(left) != 0 {
		t.Error("left behind:", left)
	}
	again, err := takeLock(both, "A on b", "x")
	if err != nil {
		t.Fatal(err)
	}
	path := again.files[0].Name()
	again.release()
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), path); err != nil {
		t.Fatal(err)
	}
	if _, err := takeLock(both, "A on b", "x"); err == nil {
		t.Error("a link was followed")
	}
}

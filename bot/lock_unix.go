//go:build unix

package bot

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// lockFolders: /tmp/blockworld-UID is there for every process of the user, whether or not it has a login session and
// whatever TMPDIR and XDG_RUNTIME_DIR say. Where the system keeps a runtime folder of the user it is used as well, since
// /tmp may be cleaned.
func lockFolders() ([]string, error) {
	uid := os.Getuid()
	shared := fmt.Sprintf("/tmp/blockworld-%d", uid)
	if err := ownFolder(shared); err != nil {
		return nil, err
	}
	folders := []string{shared}
	if own := fmt.Sprintf("/run/user/%d/blockworld", uid); ownFolder(own) == nil {
		folders = append(folders, own)
	}
	return folders, nil
}

// openLock opens or makes a lock file; a link in its place is an error.
func openLock(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
}

// lockFile takes an exclusive lock without waiting. Two descriptors conflict even within one process.
func lockFile(f *os.File) error { return flock(f, syscall.LOCK_EX|syscall.LOCK_NB) }

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return errHeld
		}
		return err
	}
}

// keepFolder holds a shared lock on the folder: systemd-tmpfiles leaves a locked folder's files alone, however old (man
// tmpfiles.d, "Age"). Nil where it cannot be had.
func keepFolder(dir string) *os.File {
	d, err := os.Open(dir)
	if err != nil {
		return nil
	}
	if flock(d, syscall.LOCK_SH|syscall.LOCK_NB) != nil {
		d.Close()
		return nil
	}
	return d
}

// removeLock takes a lock file away while it is still locked; what another holder has put in its place stays.
func removeLock(f *os.File) {
	if !strings.HasSuffix(f.Name(), ".lock") {
		return // a folder
	}
	ours, err := f.Stat()
	if err != nil {
		return
	}
	if there, err := os.Lstat(f.Name()); err == nil && os.SameFile(ours, there) {
		os.Remove(f.Name())
	}
}

func ownedByUser(info os.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Getuid()
}

// privateMode says that nobody else may use the folder.
func privateMode(info os.FileInfo) bool { return info.Mode().Perm()&0o077 == 0 }

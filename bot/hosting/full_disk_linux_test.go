package hosting_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"blockworld/effects/host"
	"blockworld/fixtures/server"
	"blockworld/sentinel/journal"
)

// fill makes the disk full below a file that this process holds open, until it is opened again.
func fill(t *testing.T, path string) {
	t.Helper()
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		link := filepath.Join("/proc/self/fd", fd.Name())
		if target, err := os.Readlink(link); err != nil || target != path {
			continue
		}
		var n int
		for _, digit := range fd.Name() {
			n = n*10 + int(digit-'0')
		}
		if err := syscall.Dup3(int(full.Fd()), n, syscall.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Fatalf("%s is not open", path)
}

// TestFullDisk: a disk that was full for a moment costs the operation that met it and the session, and no restart.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	st := set(t, server.Config{}).start()
	st.hold()
	before := st.ready().Epoch
	fill(t, filepath.Join(st.cfg.Actors[0].Dir, journal.FileName))
	sent := st.effectPackets()
	if _, o := st.done(placing(2, -60, 0, "minecraft:stone")); o.Status == host.Succeeded || o.Sent || !strings.Contains(o.Message, journal.ErrDiskFull.Error()) {
		t.Errorf("what cannot be stored: %+v", o)
	}
	if n := st.effectPackets() - sent; n != 0 {
		t.Errorf("%d packets were sent without a mark", n)
	}
	st.d.await("another session", func() bool {
		all := st.d.publications["builder-1"]
		return all[len(all)-1].Ready && all[len(all)-1].Epoch != before
	})
	st.ready()
	if _, o := st.done(placing(2, -60, 0, "minecraft:stone")); o.Status != host.Succeeded || o.Receipt == nil {
		t.Errorf("with room again: %+v", o)
	}
	if all, done := st.uses(); all != 1 || done != 1 {
		t.Errorf("%d uses, %d carried out", all, done)
	}
}

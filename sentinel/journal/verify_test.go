package journal

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"blockworld/effects"
)

// filled returns a journal with n receipts, the key rotated in the middle when asked.
func filled(t testing.TB, n uint32, rotate bool) *Journal {
	t.Helper()
	j := withMission(t, openTest(t, t.TempDir()))
	for i := range n {
		if rotate && i == n/2 {
			if _, err := j.RotateKey(); err != nil {
				t.Fatal(err)
			}
		}
		m := mark(i, i)
		mustMark(t, j, m)
		mustSettle(t, j, outcome(m, effects.Proven))
	}
	return j
}

func export(t testing.TB, j *Journal) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := j.Export(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// lines splits an export; each line keeps its newline.
func lines(b []byte) [][]byte { return slices.Collect(bytes.Lines(b)) }

func join(l ...[]byte) []byte { return bytes.Join(l, nil) }

func TestVerify(t *testing.T) {
	j := filled(t, 6, false)
	good := export(t, j)
	l := lines(good)
	pin := j.Fingerprint()
	other := filled(t, 6, false) // the same receipts, another key
	if other.Fingerprint() == pin {
		if _, err := other.RotateKey(); err != nil {
			t.Fatal(err)
		}
		other = resigned(t, 6)
	}
	flip := func(line int, from, to string) []byte {
		c := slices.Clone(l)
		c[line] = bytes.Replace(c[line], []byte(from), []byte(to), 1)
		return join(c...)
	}
	for _, c := range []struct {
		name string
		data []byte
		want error
	}{
		{"good", good, nil},
		{"one byte changed in what people read", flip(4, `"grade":"attributed"`, `"grade":"attributee"`), ErrChanged},
		{"one byte changed in the header", flip(0, `"version":1`, `"version":1 `), ErrChanged},
		{"last receipts dropped", join(slices.Concat(l[:5], l[len(l)-1:])...), ErrReceiptsCut},
		{"one in the middle dropped", join(slices.Concat(l[:3], l[4:])...), ErrReceiptsCut},
		{"two swapped", join(slices.Concat(l[:3], [][]byte{l[4], l[3]}, l[5:])...), ErrOutOfOrder},
		{"all re-signed with another key", export(t, other), ErrOtherSigner},
		{"entries of another chain", join(slices.Concat(l[:3], lines(export(t, other))[3:4], l[4:])...), ErrUnknownSigner},
		{"head of another chain", join(slices.Concat(l[:len(l)-1], lines(export(t, other))[len(l)-1:])...), ErrUnknownSigner},
		{"head missing", join(l[:len(l)-1]...), ErrNoHead},
		{"cut in the middle of a line", good[:len(good)*2/3], ErrNoHead},
		{"cut by one byte", good[:len(good)-1], ErrChanged},
		{"more behind the head", join(good, l[3]), ErrAfterHead},
		{"a receipt twice", join(slices.Concat(l[:4], l[3:])...), ErrOutOfOrder},
		{"empty", nil, ErrNotExport},
		{"something else", []byte("hello\n"), ErrNotExport},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := Verify(bytes.NewReader(c.data), pin)
			if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if c.want == nil && (r.Receipts != 6 || !r.Pinned || r.Signer != pin || !strings.Contains(r.String(), "signer pinned")) {
				t.Errorf("%+v", r)
			}
		})
	}
	r, err := Verify(bytes.NewReader(good), KeyID{})
	if err != nil || r.Pinned || !strings.Contains(r.String(), "signer not pinned") || !strings.Contains(r.String(), pin.String()) {
		t.Error(r, err)
	}
}

// resigned builds the same journal with other randomness for the key.
func resigned(t testing.TB, n uint32) *Journal {
	opts := testOptions()
	opts.Rand = rand.NewChaCha8([32]byte{2})
	j, err := Open(t.TempDir(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	withMission(t, j)
	for i := range n {
		m := mark(i, i)
		mustMark(t, j, m)
		mustSettle(t, j, outcome(m, effects.Proven))
	}
	return j
}

// TestVerifyEveryByte changes every byte of an export in turn: none may pass.
func TestVerifyEveryByte(t *testing.T) {
	j := filled(t, 2, true)
	good, pin := export(t, j), j.Fingerprint()
	step := 7
	if os.Getenv("BLOCKWORLD_FULL") == "1" {
		step = 1
	}
	for i := 0; i < len(good); i += step {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		if _, err := Verify(bytes.NewReader(bad), pin); err == nil {
			t.Errorf("byte %d changed from %q to %q and nobody noticed", i, good[i], bad[i])
		}
		if _, err := Verify(bytes.NewReader(good[:i]), pin); err == nil {
			t.Errorf("cut at %d and nobody noticed", i)
		}
	}
}

func TestRotation(t *testing.T) {
	j := withMission(t, openTest(t, t.TempDir()))
	first := j.Fingerprint()
	backup := filepath.Join(t.TempDir(), "key.backup")
	if err := j.BackupKey(backup); err != nil {
		t.Fatal(err)
	}
	if err := j.BackupKey(backup); err == nil {
		t.Error("a backup was overwritten")
	}
	m := mark(0, 0)
	mustMark(t, j, m)
	mustSettle(t, j, outcome(m, effects.Proven))
	second, err := j.RotateKey()
	if err != nil || second == first || j.Fingerprint() != second {
		t.Fatal(second, err)
	}
	m = mark(1, 1)
	mustMark(t, j, m)
	mustSettle(t, j, outcome(m, effects.Proven))
	for name, pin := range map[string]KeyID{"old": first, "new": second, "none": {}} {
		r, err := Verify(bytes.NewReader(export(t, j)), pin)
		if err != nil || r.Rotations != 1 || r.First != first || r.Signer != second || r.Receipts != 2 || r.Pinned != (name != "none") {
			t.Error(name, r, err)
		}
	}
	if _, err := Verify(bytes.NewReader(export(t, j)), KeyID{1}); !errors.Is(err, ErrOtherSigner) {
		t.Error(err)
	}
	dir := j.Dir()
	j.Close()
	old, _ := os.ReadFile(backup)
	current, _ := os.ReadFile(filepath.Join(dir, KeyFileName))
	write := func(data []byte) {
		if err := os.WriteFile(filepath.Join(dir, KeyFileName), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(old)
	if _, err := Open(dir, testOptions()); !errors.Is(err, ErrWrongKey) {
		t.Error(err)
	}
	os.Remove(filepath.Join(dir, KeyFileName))
	if _, err := Open(dir, testOptions()); !errors.Is(err, ErrNoKey) {
		t.Error(err)
	}
	write([]byte("nonsense"))
	if _, err := Open(dir, testOptions()); !errors.Is(err, ErrKeyFile) {
		t.Error(err)
	}
	// A crash between the chain's entry and the renaming: the next key is at hand.
	write(old)
	if err := os.WriteFile(filepath.Join(dir, nextKeyName), current, 0o600); err != nil {
		t.Fatal(err)
	}
	j = openTest(t, dir)
	if j.Fingerprint() != second {
		t.Error("the rotation was not finished")
	}
}

// TestStolenChain: whoever holds another key cannot make a chain that a pinned later key seems to sign.
func TestStolenChain(t *testing.T) {
	j := filled(t, 2, false)
	victim := j.Fingerprint()
	thief := resigned(t, 2)
	// The thief's chain names the victim's public key in a rotation without the victim's proof.
	err := thief.update(func(tx *txn) error {
		body := keyBody(tx.head.hash, tx.key)
		copy(body, public(j.key))
		if err := tx.append(chainKey, body, tx.key); err != nil {
			return err
		}
		return tx.putHead()
	})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := thief.Export(&b); err == nil {
		if _, err := Verify(&b, victim); err == nil {
			t.Error("a stolen chain passes for the victim's")
		}
	}
	if _, err := Check(closed(t, thief)); !errors.Is(err, ErrCorrupt) {
		t.Error("check:", err)
	}
}

// closed closes a journal and returns a copy of its directory that a test may damage.
func closed(t testing.TB, j *Journal) string {
	t.Helper()
	j.Close()
	return copied(t, j.Dir())
}

func copied(t testing.TB, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func TestFingerprint(t *testing.T) {
	pub, _, err := ed25519.GenerateKey(rand.NewChaCha8([32]byte{}))
	if err != nil {
		t.Fatal(err)
	}
	id := KeyIDOf(pub)
	back, err := ParseFingerprint(" " + id.String() + "\n")
	if err != nil || back != id || len(id.String()) != 50 {
		t.Error(id, err)
	}
	for _, bad := range []string{"", "SHA256:", id.String()[:49], id.String() + "A", strings.ToLower(id.String()), strings.TrimPrefix(id.String(), "SHA256:")} {
		if _, err := ParseFingerprint(bad); !errors.Is(err, ErrFingerprint) {
			t.Error(bad, err)
		}
	}
}

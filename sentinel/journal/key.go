package journal

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"blockworld/sentinel/boltfile"
)

// KeyID is the SHA-256 of an Ed25519 public key.
type KeyID [sha256.Size]byte

// KeyIDOf returns a public key's id.
func KeyIDOf(public ed25519.PublicKey) KeyID { return sha256.Sum256(public) }

// String returns the fingerprint as people compare and pin it: SHA256: and 43 characters of base64.
func (k KeyID) String() string { return "SHA256:" + base64.RawStdEncoding.EncodeToString(k[:]) }

// ErrFingerprint is returned for text that is no fingerprint.
var ErrFingerprint = errors.New("not a key fingerprint: want SHA256: and 43 characters")

// ParseFingerprint reads what KeyID.String writes.
func ParseFingerprint(s string) (KeyID, error) {
	text, ok := strings.CutPrefix(strings.TrimSpace(s), "SHA256:")
	raw, err := base64.RawStdEncoding.Strict().DecodeString(text)
	if !ok || err != nil || len(raw) != sha256.Size {
		return KeyID{}, fmt.Errorf("%w, not %q", ErrFingerprint, s)
	}
	return KeyID(raw), nil
}

const (
	keyHeader   = "blockworld receipt key 1"
	nextKeyName = KeyFileName + ".next"
)

// encodeKey writes a key file: header, fingerprint for people, seed.
func encodeKey(key ed25519.PrivateKey) []byte {
	return fmt.Appendf(nil, "%s\n%s\n%s\n", keyHeader, KeyIDOf(public(key)), base64.StdEncoding.EncodeToString(key.Seed()))
}

// ReadKey reads a key file or its backup; errors wrap ErrKeyFile.
func ReadKey(path string) (ed25519.PrivateKey, error) {
	raw, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	if len(lines) != 3 || string(lines[0]) != keyHeader {
		return nil, fmt.Errorf("%w: %s", ErrKeyFile, path)
	}
	seed, err := base64.StdEncoding.DecodeString(string(lines[2]))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("%w: %s: its seed", ErrKeyFile, path)
	}
	key := ed25519.NewKeyFromSeed(seed)
	if KeyIDOf(public(key)).String() != string(lines[1]) {
		return nil, fmt.Errorf("%w: %s: seed and fingerprint do not belong together", ErrKeyFile, path)
	}
	return key, nil
}

// maxKeyFile bounds a key file, in bytes; ours have about 120.
const maxKeyFile = 4096

// readSmall reads a key file. What is not a small file is not opened for long: a pipe or a device could have no end.
func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is no file", ErrKeyFile, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxKeyFile+1))
	if err == nil && len(raw) > maxKeyFile {
		err = fmt.Errorf("%w: %s has more than %d bytes", ErrKeyFile, path, maxKeyFile)
	}
	return raw, err
}

func public(key ed25519.PrivateKey) ed25519.PublicKey { return key.Public().(ed25519.PublicKey) }

// newOrKeptKey returns the key that is there, or makes one.
func (j *Journal) newOrKeptKey() (ed25519.PrivateKey, error) {
	path := filepath.Join(j.dir, KeyFileName)
	key, err := ReadKey(path)
	if !errors.Is(err, os.ErrNotExist) {
		return key, err
	}
	return j.makeKey(path)
}

func (j *Journal) makeKey(path string) (ed25519.PrivateKey, error) {
	_, key, err := ed25519.GenerateKey(j.opts.Rand)
	if err != nil {
		return nil, fmt.Errorf("draw a receipt key: %w", err)
	}
	return key, storage(boltfile.WriteWhole(path, encodeKey(key)))
}

// loadKey reads the key that the chain names. After a crash in the middle of a rotation that is the next one.
func (j *Journal) loadKey() error {
	path, next := filepath.Join(j.dir, KeyFileName), filepath.Join(j.dir, nextKeyName)
	key, err := ReadKey(path)
	if err == nil && KeyIDOf(public(key)) == j.head.key {
		j.key = key
		return nil
	}
	if other, err := ReadKey(next); err == nil && KeyIDOf(public(other)) == j.head.key {
		j.key = other
		if j.copy != "" {
			return nil // the rotation may still be under way
		}
		return errors.Join(os.Rename(next, path), boltfile.SyncDir(j.dir))
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: %s should hold key %s", ErrNoKey, path, j.head.key)
	case err != nil:
		return err
	}
	return fmt.Errorf("%w: %s holds %s, the chain names %s", ErrWrongKey, path, KeyIDOf(public(key)), j.head.key)
}

// Fingerprint returns the current signer.
func (j *Journal) Fingerprint() KeyID {
	j.mu.Lock()
	defer j.mu.Unlock()
	return KeyIDOf(public(j.key))
}

// BackupKey writes a copy of the key to a file of mode 0600 that must not exist yet.
func (j *Journal) BackupKey(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("key backup: %s exists; choose another name", path)
	}
	j.mu.Lock()
	data := encodeKey(j.key)
	j.mu.Unlock()
	return storage(boltfile.WriteWhole(path, data))
}

// RotateKey makes a new key; the chain gets an entry signed by the old key that names it, and the new key signs from
// there on. The old key file is replaced: who pinned it can still verify, because the chain leads to the new one.
func (j *Journal) RotateKey() (KeyID, error) {
	if j.copy != "" {
		return KeyID{}, ErrLooking
	}
	next := filepath.Join(j.dir, nextKeyName)
	key, err := j.makeKey(next)
	if err != nil {
		return KeyID{}, err
	}
	if err := j.update(func(t *txn) error { return t.addKey(t.key, key) }); err != nil {
		return KeyID{}, err
	}
	if err := os.Rename(next, filepath.Join(j.dir, KeyFileName)); err != nil {
		return KeyID{}, err
	}
	return KeyIDOf(public(key)), boltfile.SyncDir(j.dir)
}

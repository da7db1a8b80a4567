package controlplane

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	"blockworld/controlplane/operation"
	"blockworld/controlplane/store"
)

// newSeal draws the key of cursors. It lives in memory: a cursor from before a restart is none of ours, and gets the
// present view.
func (g *Gateway) newSeal() error {
	var key [32]byte
	if err := g.random(key[:]); err != nil {
		return err
	}
	if err := g.random(g.macKey[:]); err != nil {
		return err
	}
	block, err := aes.NewCipher(key[:])
	if err == nil {
		g.seal, err = cipher.NewGCM(block)
	}
	return err
}

// cursor seals a few bytes for one purpose. Equal content gives equal cursors, so a caller can compare them, and nobody
// can read or make one.
func (g *Gateway) cursor(purpose string, data []byte) string {
	mac := hmac.New(sha256.New, g.macKey[:])
	mac.Write([]byte(purpose))
	mac.Write([]byte{0})
	mac.Write(data)
	nonce := mac.Sum(nil)[:g.seal.NonceSize()]
	return base64.RawURLEncoding.EncodeToString(g.seal.Seal(nonce, nonce, data, []byte(purpose)))
}

// unseal opens a cursor of this purpose; false: it is none.
func (g *Gateway) unseal(purpose, cursor string) ([]byte, bool) {
	if len(cursor) > 128 {
		return nil, false
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	n := g.seal.NonceSize()
	if err != nil || len(b) < n {
		return nil, false
	}
	data, err := g.seal.Open(nil, b[:n], b[n:], []byte(purpose))
	return data, err == nil
}

func (g *Gateway) numberCursor(purpose string, n uint64) string {
	return g.cursor(purpose, binary.BigEndian.AppendUint64(nil, n))
}

func (g *Gateway) numberOf(purpose, cursor string) (uint64, bool) {
	data, ok := g.unseal(purpose, cursor)
	if !ok || len(data) != 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(data), true
}

func (g *Gateway) placeCursor(purpose string, p store.Place) string {
	data := binary.BigEndian.AppendUint64(nil, uint64(p.Created))
	return g.cursor(purpose, append(data, p.ID[:]...))
}

func (g *Gateway) placeOf(purpose, cursor string) (p store.Place, ok bool) {
	data, ok := g.unseal(purpose, cursor)
	if !ok || len(data) != 8+len(p.ID) {
		return p, false
	}
	p.Created = operation.Instant(binary.BigEndian.Uint64(data))
	copy(p.ID[:], data[8:])
	return p, true
}

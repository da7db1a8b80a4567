package wire

import (
	"crypto/aes"
	"crypto/cipher"
	"fmt"

	"github.com/Tnze/go-mc/net/CFB8"
)

// secret is the shared secret of an encrypted connection, key and first vector at once.
type secret struct {
	block cipher.Block
	key   []byte
}

func (s *secret) decrypter() cipher.Stream { return CFB8.NewCFB8Decrypt(s.block, s.key) }
func (s *secret) encrypter() cipher.Stream { return CFB8.NewCFB8Encrypt(s.block, s.key) }

// SetEncryption encrypts what is written from here on with AES-128 in CFB8, and decrypts all that has not been read yet. A
// client calls it after writing Key and before flushing it; a server after reading Key, before anything else.
func (c *Conn) SetEncryption(key []byte) error {
	if len(key) != aes.BlockSize {
		return fmt.Errorf("%w: shared secret of %d bytes, must be %d", ErrMalformed, len(key), aes.BlockSize)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return err
	}
	c.secret.Store(&secret{block: block, key: append([]byte(nil), key...)})
	return nil
}

// useSecret starts encrypting when a secret has been set.
func (o *outbound) useSecret(s *secret) {
	if s != nil && o.cipher == nil {
		o.cipher = s.encrypter()
	}
}

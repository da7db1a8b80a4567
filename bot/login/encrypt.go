package login

import (
	"crypto/md5" //nolint:gosec // the UUID of an offline player is defined as an MD5 (version 3) UUID
	"crypto/rsa"
	"crypto/sha1" //nolint:gosec // the session server's hash is defined as SHA-1
	"crypto/x509"
	"fmt"
	"io"
	"math/big"

	"blockworld/worldstate"
)

// SecretSize is the length of the shared secret in bytes: AES-128 in CFB8 mode, the key is also the first vector.
const SecretSize = 16

// SessionRequest is what the session server of an online-mode server has to be told before the key is answered.
type SessionRequest struct {
	ServerHash string // as the protocol defines it: a signed hexadecimal SHA-1
	Username   string
}

// OfflineUUID is the id that a server in offline mode gives a name.
func OfflineUUID(name string) worldstate.UUID {
	u := worldstate.UUID(md5.Sum([]byte("OfflinePlayer:" + name))) //nolint:gosec // see the import
	u[6] = u[6]&0x0f | 0x30
	u[8] = u[8]&0x3f | 0x80
	return u
}

// serverHash is SHA-1 over id, secret and key, written as a signed number in base 16.
func serverHash(serverID string, secret, publicKey []byte) string {
	h := sha1.New() //nolint:gosec // see the import
	io.WriteString(h, serverID)
	h.Write(secret)
	h.Write(publicKey)
	sum := h.Sum(nil)
	n := new(big.Int).SetBytes(sum)
	if sum[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(sum))*8))
	}
	return n.Text(16)
}

// seal encrypts the shared secret and the server's token with the server's public key. The padding's randomness is
// the random passed in where the standard library still reads it.
func seal(random io.Reader, publicKey, secret, token []byte) (encSecret, encToken []byte, err error) {
	parsed, err := x509.ParsePKIXPublicKey(publicKey)
	if err != nil {
		return nil, nil, fmt.Errorf("the server's public key is unreadable: %w", err)
	}
	key, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return nil, nil, fmt.Errorf("the server's public key is no RSA key but %T", parsed)
	}
	if encSecret, err = rsa.EncryptPKCS1v15(random, key, secret); err != nil {
		return nil, nil, fmt.Errorf("the shared secret does not fit the server's key: %w", err)
	}
	if encToken, err = rsa.EncryptPKCS1v15(random, key, token); err != nil {
		return nil, nil, fmt.Errorf("the server's token does not fit its key: %w", err)
	}
	return encSecret, encToken, nil
}

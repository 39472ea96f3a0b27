package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"
)

// Keys are secrets of at least 32 bytes. The first one seals, and all of them open: so a key can be replaced.
type Keys [][]byte

// secretBytes is the least length of a secret.
const secretBytes = 32

// New returns a random key, or the given ones if there are any.
func New(keys Keys) Keys {
	if len(keys) > 0 {
		return keys
	}
	secret := make([]byte, secretBytes)
	_, _ = rand.Read(secret) // it never fails
	return Keys{secret}
}

// Parse reads keys: one or two lines, each a secret in base64. "#" begins a comment.
func Parse(text string) (k Keys, err error) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		secret, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(secret) < secretBytes {
			return nil, errors.New("a line holds no key of 32 bytes in base64, as openssl rand -base64 32 makes it")
		}
		k = append(k, secret)
	}
	if len(k) != 1 && len(k) != 2 {
		return nil, errors.New("it must hold one key, or two while you replace one: the first seals, both open")
	}
	return k, nil
}

// Seal returns the sealed text, which header fields and JSON can hold. Only Open with the same use opens it.
func (k Keys) Seal(use string, plain []byte) string {
	return base64.RawURLEncoding.EncodeToString(aead(k[0], use).Seal(nil, nil, plain, nil))
}

// Open returns what was sealed for the use. ok is false if none of the keys has sealed it.
func (k Keys) Open(use, sealed string) (plain []byte, ok bool) {
	data, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil {
		return nil, false
	}
	for _, secret := range k {
		if plain, err := aead(secret, use).Open(nil, nil, data, nil); err == nil {
			return plain, true
		}
	}
	return nil, false
}

// aead returns the cipher for a use, with its own key.
func aead(secret []byte, use string) cipher.AEAD {
	key, err := hkdf.Key(sha256.New, secret, nil, "lastword "+use, 32)
	if err != nil {
		panic(err) // it asks for few bytes
	}
	block, _ := aes.NewCipher(key) // the length is right
	sealer, _ := cipher.NewGCMWithRandomNonce(block)
	return sealer
}

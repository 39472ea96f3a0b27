package credential

import (
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// Tolerances: leeway is how much a client's clock may be ahead, grace how late its answer may be.
const leeway, grace = time.Minute, 5 * time.Second

// Key is a public key in the form of a JSON Web Key.
type Key struct {
	Type      string `json:"kty"`
	Curve     string `json:"crv"`
	X         string `json:"x"`
	Y         string `json:"y"`
	ID        string `json:"kid"`
	Algorithm string `json:"alg"`
}

// Keys derives keys from secrets: public ones from the first, and private ones from all, so that it can be replaced.
type Keys [][]byte

// Public returns the public key for the credential with the authID in the conversation contextID.
func (k Keys) Public(authID, contextID string) Key { return public(private(k[0], authID, contextID)) }

func public(of *ecdh.PrivateKey) Key {
	point := of.PublicKey().Bytes()
	id := sha256.Sum256(point)
	text := base64.RawURLEncoding.EncodeToString
	return Key{Type: "EC", Curve: "P-256", X: text(point[1:33]), Y: text(point[33:]), ID: text(id[:12]), Algorithm: "ECDH-ES"}
}

// private derives a private key. The same ids always give the same key, so the server stores none.
func private(secret []byte, authID, contextID string) *ecdh.PrivateKey {
	for n := byte(0); ; n++ {
		m := hmac.New(sha256.New, secret)
		m.Write(slices.Concat([]byte{n}, counted([]byte(authID)), []byte(contextID)))
		if key, err := ecdh.P256().NewPrivateKey(m.Sum(nil)); err == nil { // nearly every number is a valid key
			return key
		}
	}
}

// header is the protected header of an encrypted credential.
type header struct {
	Algorithm  string `json:"alg"`
	Encryption string `json:"enc"`
	KeyID      string `json:"kid"`
	Ephemeral  Key    `json:"epk"`
	PartyU     string `json:"apu"`
	PartyV     string `json:"apv"`
	AuthID     string `json:"authId"`
	ContextID  string `json:"contextId"`
	IssuedAt   int64  `json:"iat"`
	Expires    int64  `json:"exp"`
}

// Open decrypts a credential, which is a JSON string, for the authID in the conversation. A credential that is not
// encrypted is returned unchanged. Errors: invalid_input.
func (k Keys) Open(authID, contextID string, credential json.RawMessage) (json.RawMessage, error) {
	var text string
	_ = json.Unmarshal(credential, &text) // the runtime checks other values
	parts := strings.Split(text, ".")
	var h header
	if raw, err := base64.RawURLEncoding.DecodeString(parts[0]); err != nil || len(parts) != 5 ||
		json.Unmarshal(raw, &h) != nil || h.Encryption == "" {
		return credential, nil
	}
	now := time.Now()
	var key *ecdh.PrivateKey
	for _, secret := range k {
		if one := private(secret, authID, contextID); public(one).ID == h.KeyID {
			key = one
		}
	}
	switch {
	case h.Algorithm != "ECDH-ES" || h.Encryption != "A256GCM" || parts[1] != "":
		return nil, messages.InvalidInput("the credential is encrypted with %.20q and %.20q; use ECDH-ES and A256GCM",
			h.Algorithm, h.Encryption)
	case h.AuthID != authID || h.ContextID != contextID:
		return nil, messages.InvalidInput("the credential was encrypted for another authId or contextId")
	case key == nil:
		return nil, messages.InvalidInput("the credential is encrypted to an old key; use the key of the latest auth-required event")
	case h.Expires > 0 && now.Add(-grace).Unix() >= h.Expires, now.Add(leeway).Unix() < h.IssuedAt:
		return nil, messages.InvalidInput("the credential has expired, or is not valid yet")
	}
	plain, err := decrypt(key, h, parts)
	if err != nil {
		return nil, messages.InvalidInput("the credential cannot be decrypted: %v", err)
	}
	return json.Marshal(string(plain))
}

// decrypt implements RFC 7516, section 5.2, with a key derived according to RFC 7518, section 4.6.
func decrypt(key *ecdh.PrivateKey, h header, parts []string) ([]byte, error) {
	var failed error
	data := func(text string) []byte {
		b, err := base64.RawURLEncoding.DecodeString(text)
		if err != nil {
			failed = err
		}
		return b
	}
	// The header has the coordinates alone. The 4 says that the point is not compressed.
	point := slices.Concat([]byte{4}, data(h.Ephemeral.X), data(h.Ephemeral.Y))
	u, v, iv, sealed := data(h.PartyU), data(h.PartyV), data(parts[2]), slices.Concat(data(parts[3]), data(parts[4]))
	public, err := ecdh.P256().NewPublicKey(point)
	if failed != nil || err != nil {
		return nil, errors.Join(failed, err)
	}
	shared, err := key.ECDH(public)
	if err != nil {
		return nil, err
	}
	// The first number counts the only round, the last one is the length of the key in bits: 256.
	derived := sha256.Sum256(slices.Concat([]byte{0, 0, 0, 1}, shared, counted([]byte(h.Encryption)), counted(u), counted(v),
		[]byte{0, 0, 1, 0}))
	block, err := aes.NewCipher(derived[:])
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil || len(iv) != gcm.NonceSize() {
		return nil, cmp.Or(err, errors.New("the nonce must have 12 bytes"))
	}
	return gcm.Open(nil, iv, sealed, []byte(parts[0]))
}

// counted returns the data preceded by its length.
func counted(data []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), data...)
}

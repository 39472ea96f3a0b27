package looopy_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/transport/looopy"
)

var base64url = base64.RawURLEncoding

// encrypt does what a client of Looopy does with a credential and the key of an event.
func encrypt(t *testing.T, key map[string]any, authID, secret string) string {
	t.Helper()
	coordinate := func(name string) []byte {
		b, err := base64url.DecodeString(fmt.Sprint(key[name]))
		must(t, err)
		return b
	}
	public, err := ecdh.P256().NewPublicKey(slices.Concat([]byte{4}, coordinate("x"), coordinate("y")))
	must(t, err)
	own, err := ecdh.P256().GenerateKey(rand.Reader)
	must(t, err)
	shared, err := own.ECDH(public)
	must(t, err)
	point := own.PublicKey().Bytes()
	header, err := json.Marshal(map[string]any{"alg": "ECDH-ES", "enc": "A256GCM", "kid": key["kid"], "authId": authID,
		"contextId": "c-1", "epk": map[string]string{"kty": "EC", "crv": "P-256", "x": base64url.EncodeToString(point[1:33]),
			"y": base64url.EncodeToString(point[33:])}})
	must(t, err)
	derived := sha256.Sum256(slices.Concat([]byte{0, 0, 0, 1}, shared, []byte{0, 0, 0, 7}, []byte("A256GCM"), make([]byte, 8),
		[]byte{0, 0, 1, 0}))
	block, err := aes.NewCipher(derived[:])
	must(t, err)
	gcm, err := cipher.NewGCM(block)
	must(t, err)
	protected, iv := base64url.EncodeToString(header), make([]byte, 12)
	sealed := gcm.Seal(nil, iv, []byte(secret), []byte(protected))
	text, tag := sealed[:len(secret)], sealed[len(secret):]
	return fmt.Sprintf("%s..%s.%s.%s", protected, base64url.EncodeToString(iv), base64url.EncodeToString(text),
		base64url.EncodeToString(tag))
}

// L8: a credential may be encrypted to the key of the event that asks for it, and to no other.
func TestL8EncryptedCredentials(t *testing.T) {
	inside(t, func(t *testing.T, s http.Handler) {
		_, events := ask(t, s, http.MethodPost, looopy.Path, `{"message":"secret below","contextId":"c-1"}`)
		var asked event
		for _, e := range events {
			if e.kind() == "auth-required" {
				asked = e
			}
		}
		key, _ := asked.data["encryptionKey"].(map[string]any)
		id := fmt.Sprint(asked.data["authId"])
		post := func(authID string) (int, []event) {
			return ask(t, s, http.MethodPost, looopy.Path, fmt.Sprintf(`{"contextId":"c-1","credentials":[{"authId":%q,"credential":%q}]}`,
				id, encrypt(t, key, authID, "blue")))
		}
		if code, _ := post("other"); code != http.StatusBadRequest && code != http.StatusUnprocessableEntity {
			t.Errorf("a credential for another question is answered with %d", code)
		}
		_, more := post(id)
		if last := more[len(more)-1]; last.data["content"] != "below: 4" {
			t.Errorf("the turn ends with %+v", last)
		}
	})
}

var must = fatal.IfError

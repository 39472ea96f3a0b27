package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// The bounds of a secret in bytes, as in the specification.
const (
	secretPrefix = "whsec_"
	shortest     = 24
	longest      = 64
)

// keyOf decodes a secret. Errors: invalid_input, which does not repeat the secret.
func keyOf(secret string) ([]byte, error) {
	text, found := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if !found || err != nil || len(key) < shortest || len(key) > longest {
		return nil, messages.InvalidInput("a secret is %s and the base64 of %d to %d random bytes: printf 'whsec_%%s\\n' \"$(openssl rand -base64 32)\" makes one",
			secretPrefix, shortest, longest)
	}
	return key, nil
}

// CheckSecret returns an error if the secret cannot sign. Errors: invalid_input, which does not repeat the secret.
func CheckSecret(secret string) error {
	_, err := keyOf(secret)
	return err
}

// sign returns the value of webhook-signature: one signature for each secret.
func sign(secrets []string, id string, at time.Time, body []byte) (string, error) {
	var all []string
	for _, secret := range secrets {
		key, err := keyOf(secret)
		if err != nil {
			return "", err
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(all, " "), nil
}

package store

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed889630bf/lastword/actors/atomicfile"
)

// Keys are the signing keys of a server: the current private key, and the public keys of it and of all earlier ones,
// the newest first.
type Keys struct {
	Seed   []byte              `json:"seed"`
	Public []ed25519.PublicKey `json:"public"`
}

// KeysFile is the file in the state folder that holds the keys. Only its owner may read it.
const KeysFile = "keys.json"

// UnmarshalJSON decodes keys, and refuses keys that cannot sign.
func (k *Keys) UnmarshalJSON(text []byte) error {
	type plain Keys
	err := json.Unmarshal(text, (*plain)(k))
	if err == nil && (len(k.Seed) != ed25519.SeedSize || len(k.Public) == 0 || !k.Public[0].Equal(k.Private().Public())) {
		err = errors.New(KeysFile + " holds no key that can sign")
	}
	return err
}

// Private returns the private key.
func (k Keys) Private() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(k.Seed) }

// Texts returns the public keys as text.
func (k Keys) Texts() []string {
	texts := make([]string, len(k.Public))
	for i, public := range k.Public {
		texts[i] = KeyText(public)
	}
	return texts
}

// KeyText returns a public key as text: its base64.
func KeyText(public []byte) string { return base64.StdEncoding.EncodeToString(public) }

// Rotated returns the keys with a new one in front.
func (k Keys) Rotated() Keys {
	public, private, _ := ed25519.GenerateKey(nil) // it never fails
	return Keys{Seed: private.Seed(), Public: append([]ed25519.PublicKey{public}, k.Public...)}
}

// ReadKeys reads the keys in the folder. If there is no file, it returns the zero Keys.
func ReadKeys(dir string) (k Keys, err error) {
	text, err := os.ReadFile(filepath.Join(dir, KeysFile))
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err != nil {
		err = fmt.Errorf("cannot read the keys in %s: %w", dir, err)
	}
	return k, err
}

// RotateKeys creates a new key in the folder. The server signs with it from then on.
func RotateKeys(dir string) (Keys, error) {
	k, err := ReadKeys(dir)
	if err != nil {
		return k, err
	}
	k = k.Rotated()
	text, err := json.Marshal(k)
	if err == nil {
		err = atomicfile.WriteDurable(dir, KeysFile, 0o600, string(text))
	}
	return k, err
}

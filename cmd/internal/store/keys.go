package store

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/atomicfile"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/regular"
)

// Keys are the public halves of the keys that have signed the runs of a journal, the newest first. Lastword 0.1.0 kept
// a private half beside them, which is never used: whoever copied the folder has it.
type Keys struct {
	Public []ed25519.PublicKey `json:"public"`
	// Entered are keys of several servers.
	Entered []Entered `json:"entered,omitempty"`
}

// Entered says from when a key counts. By is an earlier key that has signed that, or nil: then it counts for those alone
// whom the operator has given it.
type Entered struct {
	Key       ed25519.PublicKey `json:"key"`
	From      time.Time         `json:"from"`
	By        ed25519.PublicKey `json:"by,omitempty"`
	Signature []byte            `json:"signature,omitempty"`
}

func (e Entered) text() []byte {
	return fmt.Appendf(nil, "lastword-key/1 %s %s", KeyText(e.Key), e.From.UTC().Format(time.RFC3339Nano))
}

// KeysFile is the file in the state folder that holds the keys.
const KeysFile = "keys.json"

// approvals is the file in which lastword 0.1.0 kept approvals. Nothing reads it.
const approvals = "allowed-tools.jsonl"

// UnmarshalJSON decodes keys, and refuses keys that cannot verify.
func (k *Keys) UnmarshalJSON(text []byte) error {
	type plain Keys
	err := json.Unmarshal(text, (*plain)(k))
	bad := func(p ed25519.PublicKey) bool { return len(p) != ed25519.PublicKeySize }
	if slices.ContainsFunc(k.Public, bad) || slices.ContainsFunc(k.Entered, func(e Entered) bool { return bad(e.Key) || e.By != nil && bad(e.By) }) {
		err = errors.New(KeysFile + " holds what is no key")
	}
	return err
}

// With returns the keys with one in front, unless they have it.
func (k Keys) With(key ed25519.PublicKey) Keys {
	if slices.ContainsFunc(k.Public, func(p ed25519.PublicKey) bool { return p.Equal(key) }) {
		return k
	}
	return Keys{append([]ed25519.PublicKey{key}, k.Public...), k.Entered}
}

// Enter returns the keys with one that counts from now on, or from when it was entered first. by, if not nil, signs that.
func (k Keys) Enter(key ed25519.PublicKey, by ed25519.PrivateKey) Keys {
	e := Entered{Key: key, From: time.Now().UTC()}
	if by != nil && !by.Public().(ed25519.PublicKey).Equal(key) {
		e.By = by.Public().(ed25519.PublicKey)
	}
	for _, was := range k.Entered {
		if was.Key.Equal(key) {
			if e.From = was.From; e.By == nil || was.By.Equal(e.By) {
				return k.With(key)
			}
		}
	}
	if e.By != nil {
		e.Signature = ed25519.Sign(by, e.text())
	}
	k.Entered = append(slices.Clip(k.Entered), e)
	return k.With(key)
}

// Trusted returns the keys that count for somebody who trusts the given ones, each with the time from which it counts.
// A given key always counts. Another key counts once a key that counts has signed it.
func (k Keys) Trusted(given []string) map[string]time.Time {
	from := map[string]time.Time{}
	for _, key := range given {
		from[key] = time.Time{}
	}
	for more := true; more; {
		more = false
		for _, e := range k.Entered {
			_, known := from[KeyText(e.Key)]
			if _, by := from[KeyText(e.By)]; by && !known && len(e.By) > 0 && ed25519.Verify(e.By, e.text(), e.Signature) {
				from[KeyText(e.Key)], more = e.From, true
			}
		}
	}
	return from
}

// Texts returns the keys as text.
func (k Keys) Texts() []string {
	texts := make([]string, len(k.Public))
	for i, public := range k.Public {
		texts[i] = KeyText(public)
	}
	return texts
}

// signing returns the function that reads the user's key, and makes the first one. It is nil if the user has no home for
// the folder of trust, which must be apart from the data.
func signing(env environment.Variables, data ...string) (func() (ed25519.PrivateKey, error), error) {
	folder, err := trust.Open(env)
	if err == nil {
		err = folder.Apart(env, data...)
	}
	if errors.Is(err, trust.ErrNowhere) {
		return nil, nil
	}
	return func() (ed25519.PrivateKey, error) { return folder.Key(nil) }, err
}

// KeyText returns a public key as text: its base64.
func KeyText(public []byte) string { return base64.StdEncoding.EncodeToString(public) }

// ReadKeys reads the keys in the folder. If there is no file, it returns the zero Keys.
func ReadKeys(dir string) (k Keys, err error) {
	text, err := regular.Read(filepath.Join(dir, KeysFile), regular.Small)
	if errors.Is(err, fs.ErrNotExist) {
		return k, nil
	}
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &k)
	}
	if err != nil {
		err = fmt.Errorf("cannot read the keys in %s: %w", dir, err)
	}
	return k, err
}

// Publish adds keys, the newest first, to those in the folder, and drops a private half.
func Publish(dir string, keys ...ed25519.PublicKey) (k Keys, err error) {
	err = atomicfile.Change(filepath.Join(dir, KeysFile), os.O_RDWR|os.O_CREATE, func(_ *os.Root, f *os.File) error {
		if k, err = ReadKeys(dir); err != nil {
			return err
		}
		for _, key := range slices.Backward(keys) {
			k = k.With(key)
		}
		old, err := io.ReadAll(f)
		text, failed := json.Marshal(k)
		if err = errors.Join(err, failed); err != nil || string(old) == string(text) {
			return err
		}
		return confined.WriteDurable(dir, KeysFile, 0o600, string(text))
	})
	return k, err
}

// Trusts reports whether the file of a state folder, by its name, may hold what the user trusts: no backup copies it.
func Trusts(name string) bool { return name == KeysFile || name == approvals }

// CopyKeys writes the keys in the folder into another one, without a private half.
func CopyKeys(dir, to string) error {
	keys, err := ReadKeys(dir)
	if err == nil && len(keys.Public) > 0 {
		_, err = Publish(to, keys.Public...)
	}
	return err
}

// Distrust drops the private key and the approvals that a backup of lastword 0.1.0 has brought into the folder.
func Distrust(dir string) error {
	err := os.Remove(filepath.Join(dir, approvals))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if _, gone := os.Stat(filepath.Join(dir, KeysFile)); gone == nil {
		_, failed := Publish(dir)
		err = errors.Join(err, failed)
	}
	return err
}

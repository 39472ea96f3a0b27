package store_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/internal/fatal"
)

var must = fatal.IfError

// Processes that publish at the same time lose no key, and a private half is gone.
func TestPublish(t *testing.T) {
	dir := t.TempDir()
	old, seed, err := ed25519.GenerateKey(nil)
	must(t, err)
	file := filepath.Join(dir, store.KeysFile)
	must(t, os.WriteFile(file, []byte(`{"seed":"`+store.KeyText(seed.Seed())+`","public":["`+store.KeyText(old)+`"]}`), 0o600))
	var all sync.WaitGroup
	for range 12 {
		all.Go(func() {
			key, _, _ := ed25519.GenerateKey(nil)
			if _, err := store.Publish(dir, key); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	keys, err := store.ReadKeys(dir)
	if err != nil || len(keys.Public) != 13 || !keys.Public[12].Equal(old) {
		t.Errorf("%d keys, %v", len(keys.Public), err)
	}
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "seed") {
		t.Errorf("%s, %v", text, err)
	}
}

// A key of several servers counts from when it was entered, for those who trust a key that has signed it, or one before
// that. What is no key is refused.
func TestKeysThatAreSigned(t *testing.T) {
	var keys store.Keys
	var private []ed25519.PrivateKey
	for i := range 5 {
		private = append(private, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{byte(i)}, ed25519.SeedSize)))
	}
	public := func(i int) ed25519.PublicKey { return private[i].Public().(ed25519.PublicKey) }
	keys = keys.Enter(public(0), nil).Enter(public(1), private[0]).Enter(public(2), nil) // 3 signs itself, 4 is forged
	from := keys.Entered[2].From
	keys = keys.Enter(public(2), private[1]).Enter(public(2), private[1]).Enter(public(3), private[3]).Enter(public(4), private[0])
	keys.Entered[len(keys.Entered)-1].Key = public(3)
	text, err := json.Marshal(keys)
	must(t, err)
	var read store.Keys
	must(t, json.Unmarshal(text, &read))
	if len(read.Public) != 5 || len(read.Entered) != 6 {
		t.Errorf("the keys are %+v", read)
	}
	root := store.KeyText(public(0))
	trusted := read.Trusted([]string{root, ""})
	if at, ok := trusted[root]; !ok || !at.IsZero() || !trusted[store.KeyText(public(2))].Equal(from) || from.IsZero() || len(trusted) != 4 {
		t.Errorf("trusted are %v", trusted)
	}
	if from := read.Trusted([]string{store.KeyText(public(2))}); len(from) != 1 {
		t.Errorf("by who signed nothing %v", from)
	}
	for _, bad := range []string{`{"public":["AA=="]}`, `{"entered":[{"key":"AA=="}]}`, `{"entered":[{"key":"` + root + `","by":"AA=="}]}`, `{"public":[null]}`} {
		if err := json.Unmarshal([]byte(bad), &read); err == nil {
			t.Errorf("taken: %s", bad)
		}
	}
}

package store_test

import (
	"crypto/ed25519"
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

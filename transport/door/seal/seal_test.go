package seal_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/transport/door/seal"
)

func TestSeal(t *testing.T) {
	a, b := seal.New(nil), seal.New(nil)
	sealed := a.Seal("x", []byte("mia's"))
	flipped := []byte(sealed)
	flipped[len(flipped)/2] ^= 1
	for name, c := range map[string]struct {
		keys        seal.Keys
		use, sealed string
		opens       bool
	}{
		"its own":        {a, "x", sealed, true},
		"while rotating": {seal.Keys{b[0], a[0]}, "x", sealed, true},
		"after rotating": {b, "x", sealed, false}, "another use": {a, "y", sealed, false},
		"a changed one": {a, "x", string(flipped), false}, "a shortened one": {a, "x", sealed[:8], false},
		"none": {a, "x", "", false},
	} {
		if plain, ok := c.keys.Open(c.use, c.sealed); ok != c.opens || ok && string(plain) != "mia's" {
			t.Errorf("%s: %q %v", name, plain, ok)
		}
	}
	if again := a.Seal("x", []byte("mia's")); again == sealed || strings.Contains(sealed, base64.RawURLEncoding.EncodeToString([]byte("mia"))) {
		t.Error("a sealed text tells what it holds")
	}
}

func TestParse(t *testing.T) {
	line := base64.StdEncoding.EncodeToString(make([]byte, 32)) + "\n"
	for text, keys := range map[string]int{line: 1, "# new\n" + line + "\n# old\n" + line: 2, "": 0, line + line + line: 0,
		"c2hvcnQ=\n": 0, line + "no key\n": 0} {
		if got, err := seal.Parse(text); len(got) != keys || (err == nil) != (keys > 0) {
			t.Errorf("%q: %d keys, %v", text, len(got), err)
		}
	}
}

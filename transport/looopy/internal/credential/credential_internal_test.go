package credential

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// sealed is what npm's jose 5.10.0 makes of hünter"2 for a key of known, with the claims that clients of Looopy add:
// authId key, contextId c-1, iat 1, exp in the year 2100.
const sealed = "eyJhbGciOiJFQ0RILUVTIiwiZW5jIjoiQTI1NkdDTSIsImtpZCI6ImFsSFVjSm5obnM2RER6UWwiLCJhdXRoSWQiOiJrZXkiLCJj" +
	"b250ZXh0SWQiOiJjLTEiLCJpYXQiOjEsImV4cCI6NDEwMjQ0NDgwMCwiZXBrIjp7IngiOiJJaU9SVUZBaExlRzB3Wll4SlMzYWtB" +
	"cEVZaFdZWkViNXVKTjdib1JJUFdVIiwiY3J2IjoiUC0yNTYiLCJrdHkiOiJFQyIsInkiOiJKNzk0Y2FYMWlLdFRodF96MmUyQ0xH" +
	"OUU0OVJYeF9WVFlYanI2WUd2Y01zIn19..UJuuV3BRlE_r2pzG.12NTrfFUiTel.ouiiAK1FkmcWIrv5532dzw"

var known = Keys{append([]byte{1, 2, 3}, make([]byte, 29)...)}

func text(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string
	return b
}

func TestOpen(t *testing.T) {
	flip := func(at int) json.RawMessage {
		b := []byte(sealed)
		b[at] ^= 1
		return text(string(b))
	}
	for _, c := range []struct {
		name, auth, context string
		keys                Keys
		credential          json.RawMessage
		want                string // "" is refused
	}{
		{"as a client sends it", "key", "c-1", known, text(sealed), `"hünter\"2"`},
		{"not encrypted", "key", "c-1", known, text("sk-a.b.c.d.e"), `"sk-a.b.c.d.e"`},
		{"no text", "key", "c-1", known, json.RawMessage("7"), "7"},
		{"another secret", "key", "c-1", Keys{{4}}, text(sealed), ""},
		{"an older secret", "key", "c-1", Keys{{4}, known[0]}, text(sealed), `"hünter\"2"`},
		{"another authId", "other", "c-1", known, text(sealed), ""},
		{"another context", "key", "c-2", known, text(sealed), ""},
		{"a changed tag", "key", "c-1", known, flip(len(sealed) - 3), ""},
		{"a changed text", "key", "c-1", known, flip(strings.LastIndex(sealed, ".") - 3), ""},
		{"a short nonce", "key", "c-1", known, text(strings.Replace(sealed, "UJuuV3BRlE_r2pzG", "UJuu", 1)), ""},
	} {
		got, err := c.keys.Open(c.auth, c.context, c.credential)
		if string(got) != c.want || (err == nil) == (c.want == "") {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
	}
}

func TestOpenInItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is the year 2000
		time.Sleep(time.Until(time.Unix(4102444800, 0)))
		if _, err := known.Open("key", "c-1", text(sealed)); err != nil {
			t.Error(err)
		}
		time.Sleep(grace)
		if _, err := known.Open("key", "c-1", text(sealed)); err == nil {
			t.Error("an expired credential is taken")
		}
	})
}

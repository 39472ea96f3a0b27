package credential

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// sealed is what npm's jose 5.10.0 makes of hünter"2 for the question r_1/key of known, with the claims that clients
// of Looopy add: authId key, contextId c-1, iat 1, exp in the year 2100.
const sealed = "eyJhbGciOiJFQ0RILUVTIiwiZW5jIjoiQTI1NkdDTSIsImtpZCI6IjVLLTFxejN2cVdwdG45T2ciLCJhdXRoSWQiOi" +
	"JrZXkiLCJjb250ZXh0SWQiOiJjLTEiLCJpYXQiOjEsImV4cCI6NDEwMjQ0NDgwMCwiZXBrIjp7IngiOiJfbS1NSFFiWjJwaG4zcF" +
	"VLY0FJazY5bmQzUnRWdmxmcnowb1dEYVI4VjVZIiwiY3J2IjoiUC0yNTYiLCJrdHkiOiJFQyIsInkiOiJoVnBnOGdyNG5BaG9hYW" +
	"JJdE5XTW5iN0dFeHA3RTAwNWRpaHVFQ3k4eDJRIn19..sqZHJw9l0ONEJfue.poWC4ujD01PV.oMCyyDv8FZ0AIlayxc-Ljw" +
	""

var known = &Keys{secret: [32]byte{1, 2, 3}}

func text(s string) json.RawMessage {
	b, _ := json.Marshal(s) // a string
	return b
}

func TestOpen(t *testing.T) {
	const question = "r_1/key"
	flip := func(at int) json.RawMessage {
		b := []byte(sealed)
		b[at] ^= 1
		return text(string(b))
	}
	for _, c := range []struct {
		name, question, auth, context string
		keys                          *Keys
		credential                    json.RawMessage
		want                          string // "" is refused
	}{
		{"as a client sends it", question, "key", "c-1", known, text(sealed), `"hünter\"2"`},
		{"not encrypted", question, "key", "c-1", known, text("sk-a.b.c.d.e"), `"sk-a.b.c.d.e"`},
		{"no text", question, "key", "c-1", known, json.RawMessage("7"), "7"},
		{"another question", "r_2/key", "key", "c-1", known, text(sealed), ""},
		{"another process", question, "key", "c-1", New(), text(sealed), ""},
		{"another authId", question, "other", "c-1", known, text(sealed), ""},
		{"another context", question, "key", "c-2", known, text(sealed), ""},
		{"a changed tag", question, "key", "c-1", known, flip(len(sealed) - 3), ""},
		{"a changed text", question, "key", "c-1", known, flip(strings.LastIndex(sealed, ".") - 3), ""},
		{"a short nonce", question, "key", "c-1", known, text(strings.Replace(sealed, "sqZHJw9l0ONEJfue", "sqZH", 1)), ""},
	} {
		got, err := c.keys.Open(c.question, c.auth, c.context, c.credential)
		if string(got) != c.want || (err == nil) == (c.want == "") {
			t.Errorf("%s: %s, %v", c.name, got, err)
		}
	}
}

func TestOpenInItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // it is the year 2000
		time.Sleep(time.Until(time.Unix(4102444800, 0)))
		if _, err := known.Open("r_1/key", "key", "c-1", text(sealed)); err != nil {
			t.Error(err)
		}
		time.Sleep(grace)
		if _, err := known.Open("r_1/key", "key", "c-1", text(sealed)); err == nil {
			t.Error("an expired credential is taken")
		}
	})
}

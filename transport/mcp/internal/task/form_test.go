package task

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/seal"
)

// An elicitation allows only flat objects of plain fields: a schema that fits is asked as it is, a plain value in an
// object, and anything else as a text that holds JSON. On the way back the run gets what its own schema says.
func TestFormAsksWhatClientsCanShow(t *testing.T) {
	for _, c := range []struct{ name, schema, requested, content, value string }{
		{"nothing", ``,
			`{"type":"object","required":["value"],"properties":{"value":{"type":"string"}}}`,
			`{"value":"yes"}`, `"yes"`},
		{"a text", `{"type":"string","minLength":2}`,
			`{"type":"object","required":["value"],"properties":{"value":{"type":"string","minLength":2}}}`,
			`{"value":"yes"}`, `"yes"`},
		{"a truth value", `{"type":"boolean","default":false}`,
			`{"type":"object","required":["value"],"properties":{"value":{"type":"boolean","default":false}}}`,
			`{"value":true}`, `true`},
		{"a great number", `{"type":"integer"}`,
			`{"type":"object","required":["value"],"properties":{"value":{"type":"integer"}}}`,
			`{"value":9007199254740993}`, `9007199254740993`},
		{"a choice", `{"enum":["a","b"]}`,
			`{"type":"object","required":["value"],"properties":{"value":{"type":"string","enum":["a","b"]}}}`,
			`{"value":"b"}`, `"b"`},
		{"several of a choice", `{"type":"array","items":{"type":"string","enum":["a","b"]}}`,
			`{"type":"object","required":["value"],
				"properties":{"value":{"type":"array","items":{"type":"string","enum":["a","b"]}}}}`,
			`{"value":["a","b"]}`, `["a","b"]`},
		{"what clients do not know of a text", `{"type":"string","pattern":"^a","format":"hostname"}`,
			`{"type":"object","required":["value"],"properties":{"value":{"type":"string"}}}`,
			`{"value":"abc"}`, `"abc"`},
		{"a flat object",
			`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"]}`,
			`{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name"]}`,
			`{"name":"Ann","age":3}`, `{"name":"Ann","age":3}`},
		{"a nested object", `{"type":"object","properties":{"a":{"type":"object"}}}`, "",
			`{"value":"{\"a\":{\"b\":1}}"}`, `{"a":{"b":1}}`},
		{"an object of choices", `{"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{}]}`, "",
			`{"value":"{\"a\":\"x\"}"}`, `{"a":"x"}`},
		{"any object", `{"type":"object"}`, "", `{"value":"{\"x\":[1]}"}`, `{"x":[1]}`},
		{"a list", `{"type":"array","items":{"type":"number"}}`, "", `{"value":"[1,2.5]"}`, `[1,2.5]`},
		{"anything", `{}`, "", `{"value":"null"}`, `null`},
		{"everything", `true`, "", `{"value":"[1]"}`, `[1]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.requested == "" {
				description, _ := json.Marshal("JSON that fits the schema " + c.schema)
				c.requested = `{"type":"object","required":["value"],"properties":{"value":{"type":"string","description":` +
					string(description) + `}}}`
			}
			f := formOf(json.RawMessage(c.schema))
			sameJSON(t, f.requested, c.requested)
			value, err := f.answer(json.RawMessage(c.content))
			if err != nil || string(value) != c.value {
				t.Fatalf("%s, %v; want %s", value, err, c.value)
			}
		})
	}
}

func sameJSON(t *testing.T, got any, want string) {
	t.Helper()
	text, err := json.Marshal(got)
	fatal.IfError(t, err)
	var a, b any
	if json.Unmarshal(text, &a) != nil || json.Unmarshal([]byte(want), &b) != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%s\nwant %s", text, want)
	}
}

// A response without an answer is refused in words that say why.
func TestFormRefusesWhatIsNoAnswer(t *testing.T) {
	for _, c := range []struct{ name, schema, content string }{
		{"no content", `{"type":"string"}`, ``},
		{"no object", `{"type":"string"}`, `"yes"`},
		{"no value", `{"type":"string"}`, `{"answer":"yes"}`},
		{"null for an object", `{"type":"object","properties":{"a":{"type":"string"}}}`, `null`},
		{"no JSON in the text", `{"type":"array"}`, `{"value":"[1,"}`},
		{"JSON and no text", `{"type":"array"}`, `{"value":[1]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			value, err := formOf(json.RawMessage(c.schema)).answer(json.RawMessage(c.content))
			if messages.CodeOf(err) != messages.CauseInvalidInput {
				t.Fatalf("%s, %v", value, err)
			}
		})
	}
}

// A schema that cannot be read holds nobody up: the user is asked for JSON, and the job judges.
func TestFormOfABrokenSchema(t *testing.T) {
	for _, schema := range []string{`{`, `7`, `{"$ref":"#/nowhere"}`} {
		f := formOf(json.RawMessage(schema))
		if value, err := f.answer(json.RawMessage(`{"value":"{\"a\":1}"}`)); err != nil || string(value) != `{"a":1}` {
			t.Errorf("%s: %s, %v", schema, value, err)
		}
	}
}

var (
	signedAt  = time.Date(2026, 11, 20, 20, 0, 0, 0, time.UTC)
	testKeys  = seal.Keys{[]byte("0123456789abcdef0123456789abcdef")}
	otherCall = callDigest("ask", json.RawMessage(`{"who":"Bob"}`))
)

func sealed(keys seal.Keys, c claims) string {
	plain, _ := json.Marshal(c)
	return keys.Seal(stateUse, plain)
}

func signedClaims() claims {
	return claims{Run: "r_1", Questions: []string{"name"}, After: 7, Principal: "ann",
		Call: callDigest("ask", json.RawMessage(`{"who":"Ann"}`)), Expires: signedAt.Add(stateLife).Unix()}
}

// DESIGN 1.2 of the protocol's reference: "requestState is attacker-controlled: HMAC it, bind principal + expiry."
func TestStateIsBoundToItsCall(t *testing.T) {
	want := signedClaims()
	state := sealed(testKeys, want)
	for name, c := range map[string]struct {
		state, principal, call string
		after                  time.Duration
		err                    error
	}{
		"good":                 {state, "ann", want.Call, stateLife - time.Second, nil},
		"expired":              {state, "ann", want.Call, stateLife, errExpired},
		"another principal":    {state, "bob", want.Call, 0, errForeign},
		"no principal":         {state, "", want.Call, 0, errForeign},
		"another call":         {state, "ann", otherCall, 0, errForeign},
		"appended":             {state + "-TAMPERED", "ann", want.Call, 0, errForged},
		"cut":                  {state[:len(state)-1], "ann", want.Call, 0, errForged},
		"empty":                {"", "ann", want.Call, 0, errForged},
		"far too long":         {strings.Repeat("A", 10<<20), "ann", want.Call, 0, errForged},
		"of somebody's making": {sealed(seal.New(nil), want), "ann", want.Call, 0, errForged},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := open(testKeys, c.state, c.principal, c.call, signedAt.Add(c.after))
			if !errors.Is(err, c.err) && err != c.err {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if c.err == nil && (got.Run != want.Run || got.After != want.After || got.Questions[0] != "name") {
				t.Fatalf("claims %+v, want %+v", got, want)
			}
			if c.err != nil && got.Run != "" {
				t.Fatalf("a refused state still says %+v", got)
			}
		})
	}
}

// The same call is the same however it is written, and another is another.
func TestCallDigest(t *testing.T) {
	same := callDigest("t", json.RawMessage(`{"a":1,"b":{"c":[1,2],"d":"x"}}`))
	for _, text := range []string{`{"b": {"d":"x", "c":[1, 2]}, "a":1 }`, "{\n\"a\":1,\"b\":{\"c\":[1,2],\"d\":\"\\u0078\"}}"} {
		if got := callDigest("t", json.RawMessage(text)); got != same {
			t.Errorf("%s is another call", text)
		}
	}
	if callDigest("t", map[string]any{"a": 1, "b": map[string]any{"c": []any{1, 2}, "d": "x"}}) != same {
		t.Error("decoded arguments are another call")
	}
	for _, text := range []string{`{"a":1}`, `{"a":1,"b":{"c":[2,1],"d":"x"}}`, `{"a":"1","b":{"c":[1,2],"d":"x"}}`, ``} {
		if callDigest("t", json.RawMessage(text)) == same {
			t.Errorf("%s is the same call", text)
		}
	}
	if callDigest("u", json.RawMessage(`{"a":1,"b":{"c":[1,2],"d":"x"}}`)) == same {
		t.Error("another tool is the same call")
	}
	if callDigest("t", nil) != callDigest("t", json.RawMessage(`{}`)) {
		t.Error("no arguments are not the empty ones")
	}
	odd, even := json.RawMessage(`{"n":9007199254740993}`), json.RawMessage(`{"n":9007199254740992}`)
	if callDigest("t", odd) == callDigest("t", even) {
		t.Error("numbers lost digits")
	}
}

func FuzzOpenState(f *testing.F) {
	c := signedClaims()
	good := sealed(testKeys, c)
	f.Add(good)
	f.Add(good + "A")
	f.Add("e30.e30")
	f.Fuzz(func(t *testing.T, state string) {
		got, err := open(testKeys, state, c.Principal, c.Call, signedAt)
		if (err == nil) != (state == good) || err != nil && got.Run != "" {
			t.Fatalf("%q: %+v, %v", state, got, err)
		}
	})
}

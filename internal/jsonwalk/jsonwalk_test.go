package jsonwalk_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/jsonwalk"
)

// FuzzWalk holds the walk to encoding/json: it takes the same texts, and gives the same members.
func FuzzWalk(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, ` { "a" : [ 1.5e-3 , "x\"\u00e9" , null , true , {"b":{}} ] , "c":-0 } `,
		`{"a":01}`, `{"a":1,}`, `{"a" 1}`, `{"a":tru}`,
		`[1,2]`, `"x"`, `{"\u0061":"b"}`, "{\"a\":\"\x01\"}",
		`{"a":.5}`, `{"a":1e}`, `{"a":"\x"}`, `{"a":"\u12"}`, `{`, ``,
		strings.Repeat(`[`, 50) + strings.Repeat(`]`, 50),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want map[string]json.RawMessage
		err := json.Unmarshal(data, &want)
		got := map[string]string{}
		ok := jsonwalk.Object(data, func(key, value []byte) {
			got[string([]rune(string(key)))] = string(value) // each invalid byte is U+FFFD, as in encoding/json
		})
		if isObject := err == nil && want != nil; ok != isObject {
			t.Fatalf("%q: Object says %v, encoding/json %v", data, ok, err)
		}
		if ok && len(got) == len(want) {
			for key, value := range want {
				if got[key] != string(value) {
					t.Fatalf("%q: %q is %q, want %q", data, key, got[key], value)
				}
			}
		}
		var list []json.RawMessage
		err = json.Unmarshal(data, &list)
		if ok := jsonwalk.Array(data, func(value []byte) {
			if !json.Valid(value) {
				t.Fatalf("%q: element %q", data, value)
			}
		}); ok != (err == nil && list != nil) {
			t.Fatalf("%q: Array says %v, encoding/json %v", data, ok, err)
		}
	})
}

func TestDepth(t *testing.T) {
	for depth, want := range map[int]bool{9998: true, 20000: false} {
		text := `{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`
		if jsonwalk.Object([]byte(text), func(_, _ []byte) {}) != want || json.Valid([]byte(text)) != want {
			t.Errorf("depth %d: want %v", depth, want)
		}
	}
}

func TestRepeated(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"b":{"a":2},"c":[{"a":3},"a","a"]}`: "",
		`{"a":1,"a":2}`: "/a",
		`{"a":{"b":[0,[1],{"c":"c","c":"d"}]},"\u0061":2}`: "/a/b/2/c /a",
		`[{"a":"a","a":{"a":1,"a":2}}]`:                    "/0/a /0/a/a",
		`{"a":1,"a":2,`:                                    "/a",
		`"a"`:                                              "",
	} {
		if got := strings.Join(slices.Collect(jsonwalk.Repeated([]byte(text))), " "); got != want {
			t.Errorf("Repeated(%s) yields %q, want %q", text, got, want)
		}
	}
	for range jsonwalk.Repeated([]byte(`{"a":1,"a":2,"a":3}`)) {
		break
	}
}

// What keeps long strings from encoding/json writes and accepts the same texts.
func TestLong(t *testing.T) {
	type value struct {
		A      string
		B      string `json:"b,omitempty"`
		Quoted string `json:"q,string"`
		Hidden string `json:"-"`
		N      int
	}
	for _, unit := range []string{"x", `"\<&`, "a\n\x00", "日本", "🙂", "\u2028\u2029", "\xff", "\xe2\x80", "a\xa8"} {
		long := strings.Repeat(unit, 70_000/len(unit))
		for _, v := range []any{value{A: long, B: long[1:], Quoted: long, Hidden: long}, value{A: "a", B: long}, long, &value{A: long}, nil, time.Time{}} {
			got, err := jsonwalk.Marshal(v)
			if want, _ := json.Marshal(v); err != nil || string(got) != string(want) {
				t.Fatalf("%q in %T: %.100q %v, want %.100q", unit, v, got, err, want)
			}
			short := jsonwalk.Short(got)
			if json.Valid(short) != json.Valid(got) || len(short) > 200_000 || len(got) < 1000 && string(short) != string(got) {
				t.Errorf("%q in %T: the short text has %d bytes: %.100q", unit, v, len(short), short)
			}
		}
	}
	x := strings.Repeat("x", 100_000)
	for text, want := range map[string]string{`{"a":"b","` + x + `":["` + x + `","c"]}`: `{"a":"b","#":["#","c"]}`, `["` + x + `\"","` + x: "", `["` + x + "\n\"]": ""} {
		if got := strings.ReplaceAll(string(jsonwalk.Short([]byte(text))), x[:64<<10], "#"); got != want && (want != "" || len(got) < 100) {
			t.Errorf("Short is %.100q, want %q", got, want)
		}
	}
}

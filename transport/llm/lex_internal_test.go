package llm

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzLex: the lexer takes for JSON what encoding/json does, and its members are the same.
func FuzzLex(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, ` { "a" : [ 1.5e-3 , "x\"\u00e9" , null , true , {"b":{}} ] , "c":-0 } `, `{"a":01}`, `{"a":1,}`, `{"a" 1}`, `{"a":tru}`,
		`[1,2]`, `"x"`, `{"\u0061":"b"}`, "{\"a\":\"\x01\"}", `{"a":.5}`, `{"a":1e}`, `{"a":"\x"}`, `{"a":"\u12"}`, `{`, ``,
		strings.Repeat(`[`, 50) + strings.Repeat(`]`, 50),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want map[string]json.RawMessage
		err := json.Unmarshal(data, &want)
		got := map[string]string{}
		ok := object(data, func(key, value []byte) {
			got[string([]rune(string(key)))] = string(value) // each invalid byte is U+FFFD, as in encoding/json
		})
		if isObject := err == nil && want != nil; ok != isObject {
			t.Fatalf("%q: object says %v, encoding/json %v", data, ok, err)
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
		if ok := array(data, func(value []byte) {
			if !json.Valid(value) {
				t.Fatalf("%q: element %q", data, value)
			}
		}); ok != (err == nil && list != nil) {
			t.Fatalf("%q: array says %v, encoding/json %v", data, ok, err)
		}
	})
}

func TestLexDepth(t *testing.T) {
	for depth, want := range map[int]bool{9998: true, 20000: false} {
		text := `{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`
		if object([]byte(text), func(_, _ []byte) {}) != want || json.Valid([]byte(text)) != want {
			t.Errorf("depth %d: want %v", depth, want)
		}
	}
}

func TestCount(t *testing.T) {
	for text, want := range map[string]int64{"7": 7, "7.0": 7, `"7"`: 7, "1e3": 1000, "-1": 0, "null": 0, `"x"`: 0, "1e300": 0, "NaN": 0, "": 0} {
		if got := count([]byte(text)); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
	}
}

package jsonwalk_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/jsonwalk"
)

type letter struct {
	Text  string            `json:"text,omitempty"`
	Raw   json.RawMessage   `json:"raw,omitempty"`
	Any   any               `json:"any,omitempty"`
	Names map[string]string `json:"names,omitempty"`
	List  []*letter         `json:"list,omitempty"`
	Code  shout             `json:"code"`
}

// shout is a type that sees its JSON.
type shout string

func (s shout) MarshalJSON() ([]byte, error) { return json.Marshal(strings.ToUpper(string(s))) }

func (s *shout) UnmarshalJSON(data []byte) error {
	*s = shout(data)
	return nil
}

// TestLong holds values with long strings to encoding/json, in both directions.
func TestLong(t *testing.T) {
	for name, piece := range map[string]string{"plain": "words ", "escapes": "a\n\"\\\t/<&>\x01\u2028é😀", "invalid": "a\xff\xc3(\xe2\x82", "short": ""} {
		text := strings.Repeat(piece, 70_000/max(len(piece), 1))
		quoted, _ := json.Marshal(text)
		surrogates := strings.ReplaceAll(string(quoted), "😀", `\ud83d\ude00\ud83d`)
		for _, v := range []letter{{Text: text}, {Text: "x", Raw: json.RawMessage(`{"a": ` + surrogates + `}`), Any: []any{text, map[string]any{text[:min(5, len(text))]: text}}},
			{Names: map[string]string{"a": "b", "c": text}, List: []*letter{nil, {Text: text, Any: text}}}, {Code: shout(text)}} {
			want, err := json.Marshal(v)
			got, err2 := jsonwalk.Marshal(v)
			if err != nil || err2 != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s: Marshal: %v %v, %d and %d bytes", name, err, err2, len(got), len(want))
			}
			var w bytes.Buffer
			if err := jsonwalk.Write(&w, v); err != nil || !bytes.Equal(w.Bytes(), want) {
				t.Fatalf("%s: Write: %v", name, err)
			}
			for _, data := range [][]byte{want, bytes.ReplaceAll(want, []byte("é"), []byte("\xff")), append([]byte(`[`), want...), bytes.ReplaceAll(want, quoted, []byte(surrogates))} {
				var one, two letter
				err, err2 = json.Unmarshal(data, &one), jsonwalk.Unmarshal(data, &two, json.Unmarshal)
				if (err == nil) != (err2 == nil) || err == nil && !reflect.DeepEqual(one, two) {
					t.Fatalf("%s: Unmarshal: %v and %v", name, err, err2)
				}
			}
		}
	}
}

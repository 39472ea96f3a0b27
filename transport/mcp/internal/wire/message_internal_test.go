package wire

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzDecorate: what is added to a result leaves the rest as it was.
func FuzzDecorate(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[{}],"_meta":{"b":1}}`, `{"resultType":"task"}`, `[]`, `null`,
		`{"_meta":null}`, `{"_meta":{"io.modelcontextprotocol/serverInfo":{}}}`, `{"a":{"b>":1}}`} {
		f.Add([]byte(seed))
	}
	s := &Server{info: []byte(`{"name":"n"}`)}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		fields, err := s.withModernFields(json.RawMessage(text))
		out, _ := json.Marshal(fields)
		if err != nil || !json.Valid(out) {
			t.Fatalf("%s: %v", out, err)
		}
		var before, after map[string]json.RawMessage
		if json.Unmarshal(text, &before) != nil || before == nil {
			return
		}
		if json.Unmarshal(out, &after) != nil || after["resultType"] == nil || after["_meta"] == nil {
			t.Fatalf("%s", out)
		}
		for key, value := range before {
			var short, escaped bytes.Buffer
			_ = json.Compact(&short, value)
			json.HTMLEscape(&escaped, short.Bytes()) // as json.Marshal writes it
			if key != "_meta" && !bytes.Equal(escaped.Bytes(), after[key]) {
				t.Fatalf("%s: %s, not %s", key, after[key], value)
			}
		}
	})
}

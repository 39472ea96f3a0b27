package wire

import (
	"bytes"
	"encoding/json"
	"testing"
)

// FuzzParse holds the light reader of envelopes to encoding/json: what it takes says the same to both.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":[1,{"b":"}\""}]},"_meta":` +
			`{"progressToken":"p","io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		` { "jsonrpc" : "2.0" , "id" : "1\u0041" , "method" : "a\/b" , "params" : [ 1 , 2 ] } `,
		`{"jsonrpc":"2.0","id":1e9,"result":{"method":"x"}}`, `{"jsonrpc":"2.0","method":"n"}`,
		`{"jsonrpc":"2.0","id":-1,"error":null}`, `{"json\u0072pc":"2.0","id":1,"method":"x","x":{}}`,
		`{}`, `[]`, `{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":7}}`, `{"":{"":[{}]}}`, "\"\xff\"",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, fail := parse(text)
		if fail != nil {
			return
		}
		var want struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
			Result json.RawMessage `json:"result"`
			Error  json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("it is taken, and not JSON: %v", err)
		}
		if m.method != want.Method || !bytes.Equal(m.id, want.ID) || !bytes.Equal(m.params, want.Params) ||
			!bytes.Equal(m.result, want.Result) || !bytes.Equal(m.fault, want.Error) {
			t.Fatalf("%+v, not %+v", m, want)
		}
		var inner struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		}
		if json.Unmarshal(m.params, &inner) != nil {
			return
		}
		token := inner.Meta["progressToken"]
		if token != nil && !validID(token) {
			token = nil
		}
		if !bytes.Equal(m.meta.token, token) {
			t.Fatalf("the token is %s, not %s", m.meta.token, token)
		}
	})
}

// FuzzDecorate: what is added to a result leaves the rest as it was.
func FuzzDecorate(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[{}],"_meta":{"b":1}}`, `{"resultType":"task"}`, `[]`, `null`,
		`{"_meta":null}`, `{"_meta":{"io.modelcontextprotocol/serverInfo":{}}}`} {
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
			var short bytes.Buffer
			_ = json.Compact(&short, value)
			if key != "_meta" && !bytes.Equal(short.Bytes(), after[key]) {
				t.Fatalf("%s: %s, not %s", key, after[key], value)
			}
		}
	})
}

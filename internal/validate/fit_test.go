package validate_test

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/validate"
	"github.com/seed889630bf/lastword/messages"
)

//go:embed testdata/tried.json
var tried string

func compiled(t *testing.T, raw string) *validate.Schema {
	t.Helper()
	s, err := validate.Compile(json.RawMessage(raw))
	fatal.IfError(t, err)
	return s
}

// What is wrong with arguments is said as people say it: which one, what it was, and what it may be; and all of it.
func TestWhatIsWrongIsNamed(t *testing.T) {
	s := compiled(t, tried)
	for _, row := range fatal.Rows(t, "testdata/wrong.txt") {
		given, want := row[0], row[1]
		got, err := s.Fit(json.RawMessage(given))
		if messages.CodeOf(err) != "invalid_input" || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %s, %v; want %s", given, got, err, want)
		}
	}
}

// Arguments are taken as clients and models send them.
func TestArgumentsAsTheyAreSent(t *testing.T) {
	s := compiled(t, tried)
	long := strings.Repeat("long ", 20_000)
	for given, want := range map[string]string{
		`{"id": 1}`:                           `{"id": 1}`, // as it came
		`{"id":1,"wait_ms":5.0}`:              `{"id":1,"wait_ms":5}`,
		`{"id":1,"wait_ms":5e3}`:              `{"id":1,"wait_ms":5000}`,
		`{"id":1.0}`:                          `{"id":1.0}`,
		`{"id":1,"wait_ms":null,"name":null}`: `{"id":1,"name":null}`,
		`{"id":1,"format":2}`:                 `{"format":"2","id":1}`,
		`{"id":1,"tags":"[\"a\"]"}`:           `{"id":1,"tags":["a"]}`,
		`{"id":1,"deep":"{\"n/m\":1}"}`:       `{"deep":{"n/m":1},"id":1}`,
		`{"id":9007199254740993,"wait_ms":1}`: `{"id":9007199254740993,"wait_ms":1}`,
		`{"id": "` + long + `"}`:              `{"id": "` + long + `"}`,
		`{"id":"` + long + `","wait_ms":5.0}`: `{"id":"` + long + `","wait_ms":5}`,
	} {
		if got, err := s.Fit(json.RawMessage(given)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; want %s", given, got, err, want)
		}
	}
	for schema, fits := range map[string]bool{`{"minLength":1}`: true, `{"maxLength": 99999}`: false, `{"maxLength":1e5}`: true, `{"maxLength":9e4}`: false,
		`{"pattern":"^x+$"}`: false, `{"pattern":"long $"}`: true, `{"maxLength":9}`: false, `{"minLength":70000}`: true, `{"items":{"pattern":"x"}}`: true,
		`{"p\u0061ttern":"^x+$"}`: false, `{"$ref":"#/$defs/a","$defs":{"a":{"pattern":"^x+$"}}}`: false, `{"not":{"minLength":6000}}`: false} {
		if _, err := compiled(t, schema).Fit(json.RawMessage(`"` + long + `"`)); (err == nil) != fits {
			t.Errorf("a long text and %s: %v", schema, err)
		}
	}
	escaped := json.RawMessage(`"` + strings.Repeat(`\ud83d\ude00`, 6000) + `"`) // twelve bytes a character
	if _, err := compiled(t, `{"minLength":7000}`).Fit(escaped); err == nil {
		t.Error("6,000 characters are 7,000")
	}
}

// A schema stays within itself, whatever it refers to.
func TestSchemasLoadNothing(t *testing.T) {
	for _, ref := range []string{"file:///etc/passwd", "https://example.com/schema.json", "other.json"} {
		if _, err := validate.Compile(json.RawMessage(`{"$ref":"` + ref + `"}`)); err == nil {
			t.Errorf("%s was read", ref)
		}
	}
}

// What people answer fits, or the error says what would.
func TestAnswersFit(t *testing.T) {
	for _, c := range [][3]string{
		{`{"type":"boolean"}`, `"maybe"`, "this is a text; write true or false"},
		{`{"type":"boolean"}`, `null`, ""},
		{`{"type":"integer","minimum":1,"maximum":9}`, `12`, "12 is too much; write 9 or less"},
		{`{"type":"integer"}`, `12`, ""},
		{`{"enum":["red",5]}`, `"blue"`, "there is no blue; there are red, 5"},
		{`{"type":"string","pattern":"2$"}`, `"x"`, `"x" is no match of 2$`},
		{`{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"number"}}}`, `{"b":1}`,
			"a is missing"},
		{`[]`, `5`, ""},
		{`{"$ref":"https://example.com/else"}`, `5`, ""},
	} {
		err := validate.Answer(json.RawMessage(c[0]), json.RawMessage(c[1]))
		if (err == nil) != (c[2] == "") || err != nil && !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s for %s: %v", c[1], c[0], err)
		}
	}
}

// A small schema whose parts refer to each other cannot hold its process.
func TestValidationIsBounded(t *testing.T) {
	var parts []string
	for i := range 60 {
		parts = append(parts, fmt.Sprintf(`"a%d":{"anyOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i, i+1, i+1))
	}
	for _, last := range []string{`false`, `{"type":"string"}`} {
		s, err := validate.Compile([]byte(`{"$ref":"#/$defs/a0","$defs":{` + strings.Join(parts, ",") + `,"a60":` + last + `}}`))
		fatal.IfError(t, err)
		if wrong := strings.Join(s.Problems([]byte(`1`)), "; "); !strings.Contains(wrong, "too long to check") {
			t.Errorf("%s: %s", last, wrong)
		}
	}
}

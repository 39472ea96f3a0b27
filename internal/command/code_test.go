//go:build linux

package command_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

// A value is never code: whoever reads it, and however that is started.
func TestValuesAreNoCode(t *testing.T) {
	for what, wrong := range map[string]bool{"code": true, "none": false} {
		for _, row := range fatal.Rows(t, "testdata/"+what+".txt") {
			for text := range strings.SplitSeq(row[0], "; ") {
				c := command.Command{Name: "it", Command: strings.Fields(strings.ReplaceAll(text, `"`, "")), Input: map[string]json.RawMessage{"x": json.RawMessage(`{"type":"string"}`)}}
				if len(c.Command) == 0 {
					continue
				}
				_, err := command.Define(c, command.Config{})
				if (err != nil) != wrong || err != nil && !strings.Contains(err.Error(), "{x} would be code for") {
					t.Errorf("the value of %q %s: %v", text, what, err)
				}
				c.Input["x"] = json.RawMessage(`{"enum":["a"],"type":"string"}`)
				if _, err := command.Define(c, command.Config{}); err != nil {
					t.Errorf("%q: %v", text, err)
				}
			}
		}
	}
}

// A value begins no option, alone or with others, unless the operator has said how it begins.
func TestValuesBeginNoOption(t *testing.T) {
	for schema, free := range map[string]bool{
		`"pattern":"^-?[a-z]*$"`: true, `"pattern":"^(-a|-b)"`: true, `"enum":["-a","","-b"]`: true, `"pattern":"^(a*)-b?"`: true,
		`"pattern":"^[a-z]*"`: false, `"pattern":"^(-*)*b$"`: true, `"pattern":"($*)*^-"`: true,
		`"minLength":0`: false, `"pattern":"^"`: false, `"pattern":"^.*$"`: false, `"pattern":"^[^/]*"`: false, `"pattern":"^a|-"`: false,
		`"pattern":"-"`: false, `"pattern":"^a*.*"`: false, `"pattern":"(?m)^-"`: false, `"pattern":"^(a|.)"`: false,
	} {
		s := start(t, command.Command{Command: []string{"echo", "{a}", "{b}{a}", "{b}-c", "x{a}"}, Input: map[string]json.RawMessage{
			"a": json.RawMessage(`{"type":"string",` + schema + `}`), "b": json.RawMessage(`{"type":"string","pattern":"^[a-z]*$"}`)}}, command.Config{})
		for input, fine := range map[string]bool{`{"a":"-b","b":"x"}`: free, `{"a":"-b","b":""}`: false} {
			_, err := s.system.Submit(t.Context(), messages.Request{Job: "it", Input: json.RawMessage(input)})
			if fine != (err == nil) {
				t.Errorf("%s with %s: %v", schema, input, err)
			}
		}
	}
	s := start(t, command.Command{Command: []string{"echo", "{b}{a}"}, Input: map[string]json.RawMessage{
		"a": json.RawMessage(`{"type":"string"}`), "b": json.RawMessage(`{"type":"string","enum":["","-","-x"]}`)}}, command.Config{})
	for input, fine := range map[string]bool{`{"a":"-b","b":""}`: false, `{"a":"-b","b":"-x"}`: true, `{"a":"b","b":"-"}`: false, `{"a":"","b":"-"}`: true} {
		if _, err := s.system.Submit(t.Context(), messages.Request{Job: "it", Input: json.RawMessage(input)}); fine != (err == nil) {
			t.Errorf("%s: %v", input, err)
		}
	}
}

// Of an endless output the log keeps the end, and says what it dropped. Anyone who reads along has all of it.
func TestLongOutputIsDroppedFromItsBeginning(t *testing.T) {
	var want strings.Builder
	for i := range 300_000 {
		want.WriteString(strconv.Itoa(i+1) + "\n")
	}
	const room = 256 << 10
	var raw bytes.Buffer
	n := start(t, command.Command{Command: []string{"seq", "300000"}, MaxOutput: room}, command.Config{Stdout: &raw})
	id, at := n.submit(""), 0
	s := n.follow(id, func(_ messages.State, e messages.Event) {
		if b, ok := e.Body.(messages.TextClosed); ok && !b.Dropped {
			if part := want.String()[at : at+b.Bytes]; messages.Digest(part) != b.SHA256 {
				t.Errorf("%s is not the text from %d on", b.Stream, at)
			}
			at += b.Bytes
		}
	})
	if s.Status != messages.Completed || raw.String() != want.String() || at != want.Len() {
		t.Fatalf("%s: %d of %d bytes were written, and %d are told", s.Status, raw.Len(), want.Len(), at)
	}
	kept := output(s)
	if len(kept) > room || len(kept) < room/2 || !strings.HasSuffix(want.String(), kept) {
		t.Errorf("%d bytes are kept, and end with %q", len(kept), kept[max(0, len(kept)-20):])
	}
	dropped, size := 0, 0
	for _, text := range s.Streams {
		dropped += text.Dropped
	}
	late := n.follow(id, func(_ messages.State, e messages.Event) { size += e.Size() })
	if dropped+len(kept) != want.Len() || output(late) != kept || size > 2*room {
		t.Errorf("%d bytes are dropped and %d kept of %d; a late reader gets %d for %d", dropped, len(kept), want.Len(), size, len(output(late)))
	}
}

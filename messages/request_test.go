package messages_test

import (
	"maps"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

func TestCursorsAsText(t *testing.T) {
	for text, want := range map[string]messages.Cursors{
		"":                       {"r_a": 0},
		"7":                      {"r_a": 7},
		"7,b:3":                  {"r_a": 7, "r_a.b": 3},
		"0,b.c:9,b:1":            {"r_a": 0, "r_a.b": 1, "r_a.b.c": 9},
		"x":                      nil,
		"-1":                     nil,
		"b:3":                    nil,
		"7,3":                    nil,
		"7,b:":                   nil,
		"7,,b:3":                 nil,
		"7,b:3,":                 nil,
		" 7":                     nil,
		"1000000000000000000000": nil,
	} {
		got, err := messages.ParseCursors("r_a", text)
		if (err == nil) != (want != nil) || !maps.Equal(got, want) {
			t.Errorf("%q is %v, %v, want %v", text, got, err, want)
		}
		if err != nil {
			if messages.CodeOf(err) != messages.Code(messages.CauseInvalidInput) {
				t.Errorf("%q: %v", text, err)
			}
			continue
		}
		if again, err := messages.ParseCursors("r_a", got.Text("r_a")); err != nil || !maps.Equal(again, want) {
			t.Errorf("%q became %q, which is %v, %v", text, got.Text("r_a"), again, err)
		}
	}
}

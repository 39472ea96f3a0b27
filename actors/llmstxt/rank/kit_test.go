package rank_test

import (
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
)

// hold compares the notes of links, by path; "-" is for a file that must not be linked.
func hold(t *testing.T, index *rank.Index, want map[string]string) {
	t.Helper()
	for file, note := range want {
		switch l := find(index, file); {
		case note == "-" && l.Path != "":
			t.Errorf("%s is listed: %q", file, l.Note)
		case note != "-" && (l.Path == "" || l.Note != note):
			t.Errorf("the note of %s is %q (listed: %v), want %q", file, l.Note, l.Path != "", note)
		}
	}
}

func facts(index *rank.Index) map[string]string {
	list := make(map[string]string)
	for _, f := range index.Facts {
		list[f.Name] = f.Value
	}
	return list
}

// must ends the test with the error, where there is one.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

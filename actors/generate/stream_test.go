package generate_test

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// Issue: "streamed as text.delta with the field's text", and closed by what the files say.
func TestFieldsAreStreamed(t *testing.T) {
	run := start(t, open(t, actors.Config{}), asking(t, modeled(repository(t, nil), t.TempDir()),
		oracleOf(says(description))))
	said, done := map[string]string{}, map[string]string{}
	for e, err := range run.Events(t.Context(), 0) {
		must(t, err)
		bodies := []messages.Body{e.Body}
		if m, ok := e.Body.(messages.Merged); ok {
			bodies = m.Parts
		}
		for _, body := range bodies {
			switch b := body.(type) {
			case messages.TextDelta:
				said[b.Stream] += b.Text
			case messages.TextDone:
				done[b.Stream] = b.Text
			}
		}
	}
	want := map[string]string{
		"purpose":  "Garden grows things in rows and beds for people who write Go.",
		"concepts": "Grow: Puts a seed into a bed.\nBed: Where things grow.",
		"sections": "Docs: How to begin.\nNonsense: Not there.",
		"remember": "Water the beds.",
	}
	for stream, text := range want {
		if said[stream] != text {
			t.Errorf("%s: said %q, want %q", stream, said[stream], text)
		}
		if !strings.HasPrefix(text, done[stream]) || done[stream] == "" {
			t.Errorf("%s: closed with %q", stream, done[stream])
		}
	}
}

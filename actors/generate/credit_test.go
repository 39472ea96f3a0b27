package generate_test

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// by has the answer name the model.
func by(name string, answer []model.Part) []model.Part {
	end := answer[len(answer)-1].(model.End)
	end.Model = name
	answer[len(answer)-1] = end
	return answer
}

// What another model says than the one that was asked is never found under the name that was asked.
func TestAnotherModelIsNotCached(t *testing.T) {
	r, cache := newRemote(), t.TempDir()
	in := generate.Input{Model: "big-70b", Options: llmstxt.Options{Full: llmstxt.FullNone}}
	o := oracleOf(by("/srv/models/tiny\x1b-1b", says(description)), by("Vendor/Big-70B", says(description)))
	for i, want := range []generate.Result{{Model: "tiny-1b"}, {Model: "big-70b"}, {Model: "big-70b", Cached: true}} {
		got, files := r.generate(t, in, o.with(r.config(cache, "1")))
		if got.Model != want.Model || got.Cached != want.Cached || got.Degraded {
			t.Errorf("run %d: %+v", i+1, got)
		}
		for name, text := range files {
			if strings.HasSuffix(name, "llms.json") && (!strings.Contains(text, `"model": "`+want.Model+`"`) ||
				!strings.Contains(text, `"written by `+want.Model+`"`)) {
				t.Errorf("run %d: %s does not name %s", i+1, name, want.Model)
			}
		}
	}
	if n := len(o.asked()); n != 2 {
		t.Errorf("asked %d times", n)
	}
}

// An answer that is refused is credited to nobody: the files hold nothing of it.
func TestAnotherModelFails(t *testing.T) {
	o := oracleOf(by("tiny-1b", says("I cannot say.")))
	in := modeled(repository(t, nil), t.TempDir())
	state := completed(t, asking(t, in, o))
	if r := resultOf(t, state); r.Model != "m" || r.Cause != messages.CauseInvalidOutput {
		t.Errorf("%+v", r)
	}
	if said := logged(state); strings.Count(said, "tiny-1b answered, not m") != 1 {
		t.Errorf("logged:\n%s", said)
	}
}

func logged(s messages.State) string {
	var b strings.Builder
	for _, line := range s.Log.Lines {
		b.WriteString(string(line.Level) + ": " + line.Text + "\n")
	}
	return b.String()
}

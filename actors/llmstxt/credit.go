package llmstxt

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/repository/prose"
	"github.com/seed889630bf/lastword/actors/structured"
	"github.com/seed889630bf/lastword/messages"
)

// modelName is the model that answered, or the one that was asked.
func (g *generation) modelName() string { return cmp.Or(g.other, g.model.Name) }

// noteAnswerer records which model answered: some servers answer with a loaded model if they cannot load the one that
// was asked. An answer of the model that was asked keeps the name that was asked for, as in the cache.
func (g *generation) noteAnswerer(t *actors.TaskContext, answered string, err error) {
	name := shownModel(answered)
	if name == "" || isSameModel(g.model.Name, answered) {
		return
	}
	t.Log(messages.LogWarn, fmt.Sprintf("%s answered, not %s", name, g.model.Name))
	if err == nil {
		g.other = name
	}
}

// shownModel is the server's name for a model, without control characters and the folders of its machine.
func shownModel(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return -1
	}, name)
	if slashed := strings.ReplaceAll(name, `\`, "/"); slashed != name || strings.HasPrefix(name, "/") {
		name = path.Base(slashed)
	}
	return strings.ToValidUTF8(name[:min(len(name), maxModelName)], "")
}

// isSameModel reports whether two names are of one model. Each may have a path or vendor before it, and a date, a tag
// or a file extension after it.
func isSameModel(a, b string) bool {
	a, b = trimModel(a), trimModel(b)
	return within(a, b) || within(undated(a), b) || within(a, undated(b))
}

func trimModel(name string) string {
	name = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), `\`, "/")
	for _, end := range []string{".gguf", ":latest", "-latest"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

func within(a, b string) bool {
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// undated cuts a release date off the end.
func undated(name string) string {
	for _, layout := range []string{"2006-01-02", "20060102", "0102"} {
		at := len(name) - len(layout)
		if at < 2 || name[at-1] != '-' {
			continue
		}
		if _, err := time.Parse(layout, name[at:]); err == nil {
			return name[:at-1]
		}
	}
	return name
}

// effort says what it took to get an answer; "" if the first attempt was right.
func effort(r structured.Report) string {
	var words []string
	if r.Attempts > 1 {
		took := prose.Count(r.Attempts, "attempt")
		if r.Read+r.Written > 0 {
			took += fmt.Sprintf(", %s read and %d written", prose.Count(r.Read, "token"), r.Written)
		}
		words = append(words, "it took "+took)
	}
	if r.Repaired {
		words = append(words, "its JSON was repaired")
	}
	if r.Thought {
		words = append(words, "it was in the model's reasoning")
	}
	return strings.Join(words, "; ")
}

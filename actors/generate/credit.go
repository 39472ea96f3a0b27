package generate

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/messages"
)

// otherModel logs and returns which model answered in place of the one that was asked, or "": some servers answer with
// a loaded model if they cannot load that one. An answer of the model that was asked keeps the name that was asked for,
// as in the cache.
func otherModel(t *actors.TaskContext, asked, answered string) string {
	name := shownModel(answered)
	if name == "" || isSameModel(asked, answered) {
		return ""
	}
	t.Log(messages.LogWarn, fmt.Sprintf("%s answered, not %s", name, asked))
	return name
}

// shownModel is the server's name for a model, without control characters and the folders of its machine.
func shownModel(name string) string {
	name = render.Liner()(name)
	if strings.HasPrefix(name, "/") || strings.Contains(name, `\`) {
		name = path.Base(strings.ReplaceAll(name, `\`, "/"))
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

// undated cuts a release date off the end: year, month and day, or month and day.
func undated(name string) string {
	date := regexp.MustCompile(`-(\d{4}-\d\d-\d\d|\d{8}|(0\d|1[0-2])([0-2]\d|3[01]))$`)
	return date.ReplaceAllString(name, "")
}

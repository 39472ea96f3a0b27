package generate

import (
	"fmt"
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt/shown"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// otherModel logs and returns which model answered in place of the one that was asked, or "": some servers answer with
// a loaded model if they cannot load that one. An answer of the model that was asked keeps the name that was asked for,
// as in the cache.
func otherModel(t *actors.TaskContext, asked, answered string) string {
	name := shownModel(answered)
	if name == "" || model.SameModel(asked, answered) {
		return ""
	}
	t.Log(messages.LogWarn, fmt.Sprintf("%s answered, not %s", name, asked))
	return name
}

// shownModel is the server's name for a model, without control characters and the folders of its machine.
func shownModel(name string) string {
	name = shown.Liner()(name)
	if strings.HasPrefix(name, "/") || strings.Contains(name, `\`) {
		name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	}
	return strings.ToValidUTF8(name[:min(len(name), maxModelName)], "")
}

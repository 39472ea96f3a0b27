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

// otherModel logs and returns the model that answered instead of the requested one, or "". Some servers answer with a
// loaded model if they cannot load the requested one. If the requested model answered, its requested name is used, as
// in the cache.
func otherModel(t *actors.TaskContext, asked, answered string) string {
	name := shownModel(answered)
	if name == "" || model.SameModel(asked, answered) {
		return ""
	}
	t.Log(messages.LogWarn, fmt.Sprintf("%s answered, not %s", name, asked))
	return name
}

// shownModel returns the server's name for a model, without control characters and the folders of its machine.
func shownModel(name string) string {
	name = shown.Liner()(name)
	if strings.HasPrefix(name, "/") || strings.Contains(name, `\`) {
		name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	}
	return strings.ToValidUTF8(name[:min(len(name), maxModelName)], "")
}

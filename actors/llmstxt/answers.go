package llmstxt

import (
	"encoding/json"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt/insight"
	"github.com/seed889630bf/lastword/messages"
)

// answerKey names everything that decides a model's answer: the program, the model and the prompt. "" is no key.
// Folders without a commit have one as well.
func (g *generation) answerKey(m insight.Material) string {
	if g.cache.folder == "" {
		return ""
	}
	system, user := m.Prompt("") // without the boundary, which differs each time
	parts, err := json.Marshal([]string{"answer", g.config.Version, g.model.Name, system, user})
	if err != nil {
		return ""
	}
	return messages.Digest(string(parts))
}

func (c cache) answer(key string) (said insight.Answer, ok bool) {
	if key == "" {
		return said, false
	}
	data := c.read(key)
	return said, data != nil && json.Unmarshal(data, &said) == nil && said.Problems() == nil
}

func (g *generation) keepAnswer(t *actors.TaskContext, key string, said insight.Answer) {
	if key == "" {
		return
	}
	data, err := json.Marshal(said)
	if err == nil {
		err = g.cache.write(key, data)
	}
	if err != nil {
		t.Log(messages.LogWarn, "the model's answer is not cached: "+reason(err).Error())
	}
}

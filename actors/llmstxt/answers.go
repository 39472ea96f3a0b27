package llmstxt

import (
	"bytes"
	"encoding/json"
	"io"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt/insight"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/messages"
)

const answerFile = "answer.json"

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

func (c cache) answer(key string) (insight.Answer, bool) {
	hit := c.find(key)
	if hit == nil {
		return insight.Answer{}, false
	}
	defer hit.dir.Close()
	var said insight.Answer
	data, err := readRegular(hit.dir, answerFile)
	return said, err == nil && json.Unmarshal(data, &said) == nil && said.Problems() == nil
}

func (g *generation) keepAnswer(t *actors.TaskContext, key string, said insight.Answer) {
	if key == "" {
		return
	}
	data, err := json.Marshal(said)
	if err == nil {
		files := []render.Artifact{{Name: answerFile, SHA256: messages.Digest(string(data))}}
		err = g.cache.keep(key, Result{}, files, func(string) (io.ReadCloser, error) {
			return io.NopCloser(bytes.NewReader(data)), nil
		})
	}
	if err != nil {
		t.Log(messages.LogWarn, "the model's answer is not cached: "+reason(err).Error())
	}
}

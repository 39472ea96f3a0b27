package llmstxt

import (
	"context"
	"fmt"
	"sync"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/repository/prose"
	"github.com/seed889630bf/lastword/actors/repository/secret"
	"github.com/seed889630bf/lastword/actors/repository/tokens"
)

// mostSecrets bounds the list of secrets in llms.json.
const mostSecrets = 1000

// tokenCounts are numbers of tokens.
type tokenCounts struct {
	tokens.Counts
	mu        sync.Mutex
	files     map[string]int // by path
	artifacts map[string]int // by name
}

// add counts the tokens of a file's text.
func (c *tokenCounts) add(path string, text []byte) {
	n := c.Of(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files[path] = n
}

// refuseSecrets reads the files that are to be packed, and fails if one has a secret and the input forbids that.
func (g *generation) refuseSecrets(ctx context.Context, t *actors.TaskContext) error {
	if g.input.Secrets != SecretsFail {
		return nil
	}
	if err := render.FindSecrets(ctx, g.files, g.index, g.pack(t)); err != nil {
		return err
	}
	if found := g.secrets.Findings(); len(found) > 0 {
		return invalid("%s found, such as %s; remove them, or have them redacted", prose.Count(len(found), "secret"),
			place(found[0]))
	}
	return nil
}

func place(f secret.Finding) string { return fmt.Sprintf("%s in %s:%d", f.Rule, f.Path, f.Line) }

// report adds what the other files came to to llms.json.
func (g *generation) report(written []render.Artifact) {
	g.document.Artifacts = written
	found := g.secrets.Findings()
	g.document.Secrets = found[:min(len(found), mostSecrets)]
	for i, s := range g.document.Sections {
		for j, l := range s.Links {
			g.document.Sections[i].Links[j].Tokens = g.tokens.files[l.Path]
		}
	}
}

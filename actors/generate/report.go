package generate

import (
	"context"
	"fmt"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/llmstxt/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/secret"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/tokens"
)

// mostSecrets bounds the list of secrets in llms.json.
const mostSecrets = 1000

// tokenCounts are numbers of tokens.
type tokenCounts struct {
	tokens.Counts
	files     map[string]int // by path
	artifacts map[string]int // by name
}

// tokensOf is how many tokens the artifact has, if they are counted.
func (g *generation) tokensOf(name string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tokens.artifacts[name]
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

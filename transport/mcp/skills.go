package mcp

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/internal/packed"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// skillsExtension is the name of the extension for skills, of SEP-2640.
const skillsExtension = "io.modelcontextprotocol/skills"

//go:embed skills/lastword/SKILL.md.gz
var workSkill string

//go:embed skills/lastword-steps/SKILL.md.gz
var stepSkill string

const skillURI = "skill://"

// skillTexts are the packed files of skills by their URIs. Each is a whole skill, and begins with members "name: text".
var skillTexts = []struct{ uri, packed string }{{skillURI + "lastword/SKILL.md", workSkill}, {skillURI + "lastword-steps/SKILL.md", stepSkill}}

// readSkill reads a file of a skill.
func readSkill(_ context.Context, uri string) (Contents, error) {
	for _, s := range skillTexts {
		if s.uri == uri {
			return Contents{MIMEType: "text/markdown", Text: string(packed.Text(s.packed))}, nil
		}
	}
	return Contents{}, ErrNoResource
}

// skills returns this server's skills with the URI, or all without one.
func skills(uri string) (all []map[string]any) {
	for _, s := range skillTexts {
		front, whole := map[string]string{}, string(packed.Text(s.packed))
		head, _, _ := strings.Cut(strings.TrimPrefix(whole, "---\n"), "\n---\n")
		for line := range strings.SplitSeq(head, "\n") {
			name, text, _ := strings.Cut(line, ": ")
			front[name] = text
		}
		if uri == "" || uri == s.uri {
			all = append(all, map[string]any{"uri": s.uri, "frontmatter": front,
				"resources": []map[string]any{{"uri": s.uri, "digest": "sha256:" + messages.Digest(whole), "size": len(whole)}}})
		}
	}
	return all
}

// listSkills answers skills/list.
func listSkills(ctx context.Context, x *wire.Exchange) (any, error) {
	return cached(x, "skills", skills("")), wire.Require(ctx, auth.ReadRuns)
}

// getSkill answers skills/get.
func getSkill(ctx context.Context, x *wire.Exchange) (any, error) {
	var p struct{ URI string }
	_ = json.Unmarshal(x.Params(), &p) // then it names none
	if found := skills(p.URI); p.URI != "" && len(found) > 0 {
		return cached(x, "skill", found[0]), wire.Require(ctx, auth.ReadRuns)
	}
	return nil, &wire.Error{Code: mcp.INVALID_PARAMS, Message: "there is no such skill; skills/list has them"}
}

// cached returns a result with one member, which clients may keep.
func cached(x *wire.Exchange, member string, value any) map[string]any {
	result := map[string]any{member: value}
	if x.Modern() {
		result["ttlMs"], result["cacheScope"] = ownList, "public"
	}
	return result
}

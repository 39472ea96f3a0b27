package mcp

import (
	"context"
	"embed"
	"encoding/json"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// skillsExtension is the name of the extension for skills, of SEP-2640.
const skillsExtension = "io.modelcontextprotocol/skills"

// skillFiles has a folder for each skill. A file begins with members "name: text".
//
//go:embed skills
var skillFiles embed.FS

// skill is a skill as skills/list has it.
type skill struct {
	URI         string            `json:"uri"`
	Frontmatter map[string]string `json:"frontmatter"`
	Resources   []skillFile       `json:"resources"`
}

type skillFile struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"`
	Size   int    `json:"size"`
}

const skillURI = "skill://"

// readSkill reads a file of a skill.
func readSkill(_ context.Context, uri string) (Contents, error) {
	text, err := skillFiles.ReadFile("skills/" + strings.TrimPrefix(uri, skillURI))
	if err != nil {
		return Contents{}, ErrNoResource
	}
	return Contents{MIMEType: "text/markdown", Text: string(text)}, nil
}

// skills returns those of this server.
func skills(ctx context.Context) (all []skill) {
	folders, _ := skillFiles.ReadDir("skills") // it is there
	for _, folder := range folders {
		uri := skillURI + folder.Name() + "/SKILL.md"
		file, _ := readSkill(ctx, uri)
		s := skill{URI: uri, Frontmatter: map[string]string{}, Resources: []skillFile{{uri, "sha256:" + messages.Digest(file.Text), len(file.Text)}}}
		head, _, _ := strings.Cut(strings.TrimPrefix(file.Text, "---\n"), "\n---\n")
		for line := range strings.SplitSeq(head, "\n") {
			name, text, _ := strings.Cut(line, ": ")
			s.Frontmatter[name] = text
		}
		all = append(all, s)
	}
	return all
}

// listSkills answers skills/list.
func listSkills(ctx context.Context, x *wire.Exchange) (any, error) {
	return cached(x, "skills", skills(ctx)), wire.Require(ctx, auth.ReadRuns)
}

// getSkill answers skills/get.
func getSkill(ctx context.Context, x *wire.Exchange) (any, error) {
	var p struct{ URI string }
	_ = json.Unmarshal(x.Params(), &p) // then it names none
	for _, s := range skills(ctx) {
		if s.URI == p.URI {
			return cached(x, "skill", s), wire.Require(ctx, auth.ReadRuns)
		}
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

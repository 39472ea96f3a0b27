package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

// Clients of both eras get the skills of the server, with all files, which they can check. SEP-2640 has the form.
func TestSkills(t *testing.T) {
	inEachEra(t, func(t *testing.T, how era) {
		c := dial(t, serving(t, nil), how)
		type skill struct {
			URI         string
			Frontmatter struct{ Name, Description string }
			Resources   []struct {
				URI, Digest string
				Size        int
			}
		}
		list := read[struct {
			Skills []skill
			TTLMs  *int
		}](t, c.do("skills/list", nil).result(t))
		if len(list.Skills) != 2 || (list.TTLMs != nil) != how.modern {
			t.Errorf("%+v", list)
		}
		for _, s := range list.Skills {
			if s.URI != "skill://"+s.Frontmatter.Name+"/SKILL.md" || s.Frontmatter.Description == "" || len(s.Resources) != 1 {
				t.Errorf("%+v", s)
			}
			got := read[struct{ Skill skill }](t, c.do("skills/get", map[string]any{"uri": s.URI}).result(t)).Skill
			if got.URI != s.URI || got.Resources[0] != s.Resources[0] {
				t.Errorf("%+v", got)
			}
			file := read[struct {
				Contents []struct{ Text, MIMEType string }
			}](t, c.do("resources/read", map[string]any{"uri": s.URI}).result(t)).Contents[0]
			if f := s.Resources[0]; f.Digest != "sha256:"+messages.Digest(file.Text) || f.Size != len(file.Text) || file.MIMEType != "text/markdown" {
				t.Errorf("%+v is not of %q", f, file.Text)
			}
		}
		if code := c.do("skills/get", map[string]any{"uri": "skill://other/SKILL.md"}).code(t); code != -32602 {
			t.Errorf("an unknown skill: %d", code)
		}
		for _, uri := range []string{"skill://", "skill://lastword", "skill://../skills.go"} {
			if m := c.do("resources/read", map[string]any{"uri": uri}); m.Error == nil {
				t.Errorf("%s is read: %s", uri, m.Result)
			}
		}
		if how.modern {
			found := c.do("server/discover", nil)
			if text, _ := json.Marshal(found); !strings.Contains(string(text), `"io.modelcontextprotocol/skills":{}`) {
				t.Errorf("it is not declared: %s", text)
			}
		}
	})
}

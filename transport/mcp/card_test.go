package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// Hosts that show pages get the run card, and no others hear of it. It tells where a person answers what an agent may not.
func TestRunCard(t *testing.T) {
	const mime = "text/html;profile=mcp-app"
	asks := actors.Func("asks", func(ctx context.Context, t *actors.TaskContext, _ struct{}) (string, error) {
		go func() {
			_, _ = t.Ask(ctx, messages.InputRequired{Request: "sure", InputKind: messages.InputConfirmation, Prompt: "Really?"})
		}()
		_, err := t.Ask(ctx, messages.InputRequired{Request: "name", Prompt: "Who?"})
		return "", err
	})
	inEachEra(t, func(t *testing.T, how era) {
		s, _ := doorTo(t, mcp.Config{Wrap: &mcp.Wrap{Behind: noServers{}, Alone: true}}, nil)
		c := dialAs(t, s, how, as{principal: "ann", capabilities: map[string]any{"extensions": map[string]any{
			"io.modelcontextprotocol/ui": map[string]any{"mimeTypes": []string{mime}}}}})
		list := string(c.do("tools/list", nil).result(t)) + string(c.do("resources/list", nil).result(t))
		if n := strings.Count(list, "ui://lastword/run"); n != 2 {
			t.Errorf("a server that offers other servers' tools alone has the card %d times: %s", n, list)
		}
		s, _ = doorTo(t, mcp.Config{People: func() string { return "http://localhost:1" }}, []actors.Definition{asks}, mcp.JobTool{Job: "asks"})
		for _, shows := range []bool{true, false} {
			types := map[bool][]string{true: {mime}, false: {"text/plain"}}[shows]
			c := dialAs(t, s, how, as{principal: "ann", capabilities: map[string]any{"extensions": map[string]any{
				"io.modelcontextprotocol/ui": map[string]any{"mimeTypes": types}}}})
			list := string(c.do("tools/list", nil).result(t))
			if n := strings.Count(list, `"_meta":{"ui":{"resourceUri":"ui://lastword/run"}}`); n != map[bool]int{true: 3}[shows] {
				t.Errorf("%t: %d tools have the card: %s", shows, n, list)
			}
			all := string(c.do("resources/list", nil).result(t)) + string(c.do("resources/templates/list", nil).result(t))
			if n := strings.Count(all, "ui://"); n != map[bool]int{true: 1}[shows] {
				t.Errorf("%t: the resources are %s", shows, all)
			}
		}
		c = dialAs(t, s, how, as{principal: "ann"})
		card := read[struct {
			Contents []struct{ Text, MIMEType string }
		}](t, c.do("resources/read", map[string]any{"uri": "ui://lastword/run"}).result(t)).Contents[0]
		if card.MIMEType != mime || len(card.Text) > 20_000 || strings.Contains(card.Text, "//") && strings.Contains(card.Text, "http") ||
			!strings.Contains(card.Text, "ui/initialize") {
			t.Errorf("the card is %s of %d bytes: %s", card.MIMEType, len(card.Text), card.Text)
		}
		type answer struct {
			StructuredContent mcp.RunResult
		}
		run := read[answer](t, c.callTool("run_start", map[string]any{"job": "asks", "input": map[string]any{}}, nil).response().result(t)).StructuredContent
		for len(run.Questions) < 2 {
			run = read[answer](t, c.callTool("run_wait", map[string]any{"run_id": run.RunID, "wait_ms": 0}, nil).response().result(t)).StructuredContent
		}
		for _, q := range run.Questions {
			if person := q.Request == "sure"; q.AsksPerson != person || (q.Page == "http://localhost:1/runs/"+string(run.RunID)) != person {
				t.Errorf("%+v", q)
			}
		}
		c.callTool("run_cancel", map[string]any{"run_id": run.RunID}, nil).response().result(t)
	})
}

// noServers is no server behind.
type noServers struct{ mcp.Behind }

func (noServers) Servers() []string { return nil }

func (noServers) Lists(context.Context, mcp.Caller, string, time.Duration, int) []*mcp.List {
	return nil
}

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

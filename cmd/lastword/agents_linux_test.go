package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// A coding agent is started by the scope for it or by a person, also by a plan, and by nothing inside a run.
func TestWhoMayStartAgents(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "jobs.yaml"), confirming+fmt.Sprintf("agents:\n  mine: {command: [\"true\"], roots: [%q]}\n", dir))
	file := filepath.Join(dir, "tokens")
	token := func(name, scopes string) string {
		return strings.TrimSpace(run(t, nil, "token", "add", "--file", file, name, "--scope", scopes).stdout)
	}
	writer, starter := token("writer", "run:read,run:write"), token("starter", "run:read,run:write,run:agent")
	args := []string{"--jobs", "jobs.yaml", "--ephemeral"}
	open, closed := serveHTTP(t, dir, args...), serveHTTP(t, dir, append(args, "--tokens", file)...)
	for job, input := range map[string]string{
		"agent": `{"agent":"mine","prompt":"p"}`,
		"plan":  `{"plan":"steps:\n  - {name: inner, plan: {steps: [{name: go, job: agent, input: {agent: mine, prompt: p}}]}}\n"}`,
	} {
		for who, c := range map[string]struct {
			*served
			token string
			want  messages.Code
		}{"writer": {closed, writer, "forbidden"}, "starter": {closed, starter, ""}, "nobody": {open, "", "forbidden"}} {
			client, err := api.New(c.base(), c.token)
			must(t, err)
			if _, err := client.Submit(t.Context(), messages.Request{Job: job, Input: json.RawMessage(input)}); messages.CodeOf(err) != c.want {
				t.Errorf("%s starts %s: %v", who, job, err)
			}
		}
	}
	page := testkit.OpenURL(t.Context(), t, http.MethodGet, open.base()+"/", "", "Sec-Fetch-Site", "none")
	page.Body.Close()
	cookie, _, _ := strings.Cut(page.Header.Get("Set-Cookie"), ";")
	started := testkit.OpenURL(t.Context(), t, http.MethodPost, open.base()+"/v1/runs", `{"job":"agent","input":{"agent":"mine","prompt":"p"}}`,
		"Content-Type", "application/json", "Origin", open.base(), "Cookie", cookie)
	started.Body.Close()
	if started.StatusCode >= 300 {
		t.Errorf("the page starts none: %s", started.Status)
	}
	if s := serveHTTP(t, dir, "--ephemeral"); !unknownJob(t, s) {
		t.Error("a server whose file names no agent starts one")
	}
}

func unknownJob(t *testing.T, s *served) bool {
	_, err := mustClient(t, s).Submit(t.Context(), messages.Request{Job: "agent", Input: json.RawMessage(`{}`)})
	return messages.CodeOf(err) == messages.CauseInvalidInput && strings.Contains(err.Error(), "no job")
}

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
)

// ends are answers of a model, and how they end.
var ends = map[string]struct {
	pieces []testkit.Piece
	reason model.Reason
}{
	"stop":                {[]testkit.Piece{testkit.Text("Hello"), testkit.Finish("stop"), testkit.Done()}, model.Stop},
	"length":              {[]testkit.Piece{testkit.Text("Hello"), testkit.Finish("max_tokens"), testkit.Done()}, model.Length},
	"filter":              {[]testkit.Piece{testkit.Text("Hello"), testkit.Finish("SAFETY"), testkit.Done()}, model.Filter},
	"refusal":             {[]testkit.Piece{testkit.Text("I can't."), testkit.Finish("refusal"), testkit.Done()}, model.Filter},
	"endless":             {[]testkit.Piece{testkit.Text(strings.Repeat("again ", 4200)), testkit.Finish("stop"), testkit.Done()}, model.Length},
	"thoughts":            {[]testkit.Piece{testkit.Thought("Hm."), testkit.Finish("stop"), testkit.Done()}, model.Stop},
	"thoughts cut":        {[]testkit.Piece{testkit.Thought("Hm."), testkit.Finish("length"), testkit.Done()}, model.Length},
	"call":                {[]testkit.Piece{testkit.Call(0, "c1", "touch", "{}"), testkit.Finish("stop"), testkit.Done()}, model.ToolCalls},
	"cut in its name":     {[]testkit.Piece{testkit.Call(0, "c1", "tou", ""), testkit.Finish("length"), testkit.Done()}, model.Length},
	"cut in arguments":    {[]testkit.Piece{testkit.Call(0, "c1", "touch", `{"a":"lo`), testkit.Finish("length"), testkit.Done()}, model.Length},
	"filtered call":       {[]testkit.Piece{testkit.Call(0, "c1", "touch", "{}"), testkit.Finish("content_filter"), testkit.Done()}, model.Filter},
	"second call cut":     {[]testkit.Piece{testkit.Call(0, "c1", "touch", "{}"), testkit.Call(1, "c2", "touch", `{"a`), testkit.Finish("length"), testkit.Done()}, model.Length},
	"empty":               {[]testkit.Piece{testkit.Done()}, model.Reason(model.Failed)},
	"failed":              {[]testkit.Piece{testkit.ErrorFrame("no"), testkit.Done()}, model.Reason(model.Failed)},
	"failed after a word": {[]testkit.Piece{testkit.Text("Hel"), testkit.ErrorFrame("no"), testkit.Done()}, model.Reason(model.Failed)},
}

// lacks are the doors that tell in words that the model wrote thoughts alone.
var lacks = []string{"A2A", "MCP", "CLI"}

// Contract, section 7: an answer has one end. Every door tells it, hands on no call of an answer that was cut, and never
// writes the result's JSON as the text of an answer without one.
func TestEnds(t *testing.T) {
	m := testkit.NewModel(t)
	flags := []string{"--base-url", m.URL(), "--model", "scripted", "--retries", "0"}
	s := serveHTTP(t, t.TempDir(), append(flags, "--dialects", "all", "--ephemeral")...)
	editor := edit(t, m, t.TempDir(), nil)
	session := editor.open(t, t.TempDir())
	judge := func(name, door, body string, words map[model.Reason]string) {
		end := ends[name]
		word, known := words[end.reason]
		if !known {
			word = `"finish_reason":"` + string(end.reason) + `"`
		}
		switch {
		case !strings.Contains(body, word):
			t.Errorf("%s, %s: no %s in %s", door, name, word, body)
		case strings.Contains(body, `{\"text\"`) && (door != "MCP" || end.reason != model.ToolCalls):
			t.Errorf("%s, %s: the text is JSON: %s", door, name, body)
		case end.reason != model.ToolCalls && strings.Contains(body, `"tou`) && !strings.Contains(body, `"cut":true`):
			t.Errorf("%s, %s: the client gets calls: %s", door, name, body)
		case name == "thoughts" && slices.Contains(lacks, door) && !strings.Contains(body, "the model wrote thoughts, and no answer"):
			t.Errorf("%s, %s: the client does not learn it: %s", door, name, body)
		}
	}
	// How a client asks each door for a prompt, and the words by which it learns how the answer ended. Without a word of its
	// own, the door has OpenAI's finish_reason.
	enders := fatal.Table[map[string]struct {
		Path  string
		Body  json.RawMessage
		Words map[model.Reason]string
	}](t, "testdata/ends.json")
	for name, end := range ends {
		made := slices.ContainsFunc([]string{"call", "cut in"}, func(word string) bool { return strings.Contains(name, word) })
		for door, c := range enders {
			if door == "Looopy" && made {
				continue // the job chat makes calls itself
			}
			m.Answer(end.pieces...)
			_, body, err := testkit.ReadURL(t, http.MethodPost, s.base()+c.Path, strings.ReplaceAll(string(c.Body), "$1", strings.ReplaceAll(name, " ", "")),
				"Content-Type", "application/json", "Accept", "application/json, text/event-stream", "Prefer", "wait=30",
				"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "prompt")
			must(t, err)
			judge(name, door, body, c.Words)
		}
		m.Answer(end.pieces...)
		out, _ := binary(t, t.TempDir(), append([]string{"prompt", "x"}, flags...)...).CombinedOutput() // its words tell a failure
		judge(name, "CLI", string(out), map[model.Reason]string{model.Stop: "", model.ToolCalls: "", model.Length: "cut at its length limit",
			model.Filter: "content filter cut the answer", "failed": "failed after"})
		if made || name == "failed" { // an editor's agent asks again
			continue
		}
		m.Answer(end.pieces...)
		told, why, err := editor.prompt(t, session, name)
		judge(name, "ACP", fmt.Sprint(told, why, err), map[model.Reason]string{model.Stop: "end_turn<nil>", model.Length: "max_tokens<nil>",
			model.Filter: "refusal<nil>", "failed": "code"})
	}
}

package settings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/llm"
)

func TestModelOfTheServer(t *testing.T) {
	idle := func(id string) llm.Info { return llm.Info{ID: id} }
	loaded := func(id, server string) llm.Info { return llm.Info{ID: id, Loaded: true, Server: server} }
	embeds := llm.Info{ID: "nomic", Kind: "embeddings", Loaded: true, Server: llm.LMStudio}
	for _, c := range []struct {
		list []llm.Info
		want string
		code messages.Code
	}{
		{nil, "", ""},
		{[]llm.Info{embeds}, "", ""},
		{[]llm.Info{idle("a")}, "a", ""},
		{[]llm.Info{embeds, idle("a"), loaded("b", llm.LMStudio), loaded("c", llm.LMStudio)}, "b", ""},
		{[]llm.Info{idle("a"), idle("b")}, "", messages.CauseInvalidInput},
		{[]llm.Info{loaded("a", llm.OpenAI)}, "a", ""},
		{[]llm.Info{loaded("a", ""), loaded("b", "")}, "", messages.CauseInvalidInput},
	} {
		got, err := PickModel(c.list)
		if got != c.want || messages.CodeOf(err) != c.code {
			t.Errorf("%s: %q, %v", fmt.Sprint(c.list), got, err)
		}
	}
}

// OpenAI's key is for a server that somebody named.
func TestKeyOfTheServer(t *testing.T) {
	for _, c := range []struct {
		at   Endpoint
		want string
	}{{Endpoint{}, ""}, {Endpoint{BaseURL: LMStudio, Guessed: true}, ""}, {Endpoint{BaseURL: LMStudio}, "theirs"}} {
		at := c.at
		at.Env = []string{"OPENAI_API_KEY=theirs"}
		if got := at.key(); got != c.want {
			t.Errorf("%q (guessed: %t) gets %q, want %q", at.BaseURL, at.Guessed, got, c.want)
		}
		at.Env = append(at.Env, "LASTWORD_API_KEY=ours")
		if got := at.key(); got != "ours" {
			t.Errorf("%q (guessed: %t) gets %q", at.BaseURL, at.Guessed, got)
		}
	}
}

func TestPasswordsOfProxiesAreSecret(t *testing.T) {
	known := Secrets([]string{"https_proxy=http://me:open%20sesame@proxy.example:3128"}, nil)
	if got := known.Text("open sesame, open%20sesame, open+sesame"); !strings.HasPrefix(got, "[password], [password]") {
		t.Error(got)
	}
}

// A command line has secrets in the options of the program that it runs, in headers and in URLs. Names of our own files stay.
func TestSecretsOfCommandLines(t *testing.T) {
	const shown = "z1secret0value"
	for _, args := range [][]string{{"run", "tool", "--token", shown}, {"chat", "--", "tool", "--password=" + shown}, {"run", "API_KEY=" + shown, "x"},
		{"x", "--header=X-Api-Key: " + shown}, {"x", "--label", "token=" + shown}, {"x", "https://u:" + shown + "@h/"}} {
		if got := Secrets(nil, args).Text(shown); got == shown {
			t.Errorf("%q: %s", args, got)
		}
	}
	for _, args := range [][]string{{"serve", "--tokens=" + shown}, {"verify", "--key", shown}, {"runs", "--token-file", shown}} {
		if got := Secrets(nil, args).Text(shown); got != shown {
			t.Errorf("%q: %s", args, got)
		}
	}
}

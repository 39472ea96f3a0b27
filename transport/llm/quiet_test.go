package llm_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

const (
	knownKey   = "sk-sesame-Sesame-0123"
	knownToken = "t0ken-of-the-gardener"
)

// keyed is a client whose process knows a key and a token.
func keyed(t *testing.T, m *testkit.Model) *llm.Client {
	secrets := new(redact.Secrets)
	secrets.Add("token", knownToken)
	return client(t, llm.Config{BaseURL: m.URL(), Key: knownKey, Secrets: secrets, Retries: -1})
}

// Whatever a model says of a secret, and however its pieces cut it, no part of the answer has it.
func TestAnswersHoldNoSecret(t *testing.T) {
	basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + knownToken))
	for _, said := range []string{knownKey, knownToken, basic, strings.ReplaceAll(knownToken, "-", `\u002d`)} {
		for size := range len(said) {
			m := testkit.NewModel(t)
			var pieces []testkit.Piece
			for _, kind := range []func(string) testkit.Piece{testkit.Thought, testkit.Text,
				func(s string) testkit.Piece { return testkit.Call(0, "c", "f", s) }} {
				for text := "It is " + said + "."; text != ""; {
					n := min(size+1, len(text))
					pieces, text = append(pieces, kind(text[:n])), text[n:]
				}
			}
			m.Answer(append(pieces, testkit.Finish("stop"), testkit.Done())...)
			h := listen(t.Context(), keyed(t, m), hello())
			var arguments strings.Builder
			for _, p := range h.parts {
				switch p := p.(type) {
				case model.CallDelta:
					arguments.WriteString(p.Arguments)
				case model.ThoughtDone:
					if p.Text != h.thought {
						t.Errorf("the thought %q ends as %q", h.thought, p.Text)
					}
				}
			}
			all := fmt.Sprintf("%+v", h.parts)
			if h.err != nil || strings.Contains(all, said) || strings.Contains(all, said[:len(said)-1]) {
				t.Fatalf("pieces of %d: %s", size+1, h)
			}
			if want := h.end.Calls[0].Arguments; arguments.String() != want || strings.Contains(want, said) {
				t.Errorf("pieces of %d: the arguments are %q, then %q", size+1, arguments.String(), want)
			}
			if !strings.HasPrefix(h.text, "It is ") || !strings.HasSuffix(h.text, ".") || !strings.HasPrefix(h.thought, "It is ") {
				t.Errorf("pieces of %d: %s", size+1, h)
			}
		}
	}
}

// An answer that is cut within a secret does not show the half of it that came.
func TestCutAnswersHoldNoSecret(t *testing.T) {
	m := testkit.NewModel(t)
	m.Answer(testkit.Text("It is "+knownKey[:8]), testkit.Text(knownKey[8:16]), testkit.Cut())
	h := listen(t.Context(), keyed(t, m), hello())
	if h.end.Verdict.Cause != messages.CauseTransportClosed || h.text != "It is [key]" {
		t.Error(h)
	}
}

// What is no beginning of a secret is given at once.
func TestAnswersAreNotHeldBack(t *testing.T) {
	m, gate := testkit.NewModel(t), make(chan struct{})
	m.Answer(testkit.Text("Sesame opens, s"), testkit.Until(gate), testkit.Text("he said"), testkit.Done())
	text := ""
	for part := range keyed(t, m).Stream(t.Context(), hello()) {
		p, ok := part.(model.Text)
		if text == "" && ok {
			if p.Text != "Sesame opens, " {
				t.Errorf("first came %q", p.Text)
			}
			close(gate)
		}
		text += p.Text
	}
	if text != "Sesame opens, she said" {
		t.Errorf("got %q", text)
	}
}

// A secret that came with what a model is to read does not reach its server.
func TestRequestsHoldNoSecret(t *testing.T) {
	m, r := testkit.NewModel(t), hello()
	r.Messages[0].Content = "the README says " + knownToken
	listen(t.Context(), keyed(t, m), r)
	if got := m.Requests()[0].Chat.Messages[0].Content; string(got) == "" || strings.Contains(fmt.Sprint(got), knownToken) {
		t.Errorf("the server was sent %q", got)
	}
}

// What a server says of its models, and its failures, holds none of the process's secrets either.
func TestServersWordsHoldNoSecret(t *testing.T) {
	for name, said := range map[string]string{
		"plain": knownToken, "URL": strings.ReplaceAll(knownToken, "-", "%2D"),
		"JSON": strings.ReplaceAll(knownToken, "-", `\u002D`),
	} {
		m := testkit.NewModel(t)
		m.AnswerTo("/v1/models", standin.JSON(200, `{"data":[{"id":"`+said+`","owned_by":"vllm"}]}`))
		m.Answer(standin.JSON(400, `{"error":{"message":"no `+said+`","code":"`+said+`"}}`))
		c := keyed(t, m)
		_, list, err := c.Models(t.Context())
		h := listen(t.Context(), c, hello())
		if all := fmt.Sprintf("%+v %v %+v %+v", list, err, h, h.end); h.err == nil || strings.Contains(all, said) ||
			strings.Contains(all, knownToken) || len(list) != 1 {
			t.Errorf("%s: %s", name, all)
		}
	}
}

// A word that servers' documents give for a key is no secret.
func TestKeyThatIsNone(t *testing.T) {
	if h := answered(t, llm.Config{Key: "lm-studio"}, testkit.Text("start lm-studio"), testkit.Done()); h.text != "start lm-studio" {
		t.Error(h)
	}
}

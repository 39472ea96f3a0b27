package museum

import (
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/decode"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

// ask asks a model that answers with the pieces, and returns its text and its end.
func ask(t *testing.T, profile model.Profile, pieces ...testkit.Piece) (text, thought string, end model.End) {
	t.Helper()
	m := testkit.NewModel(t)
	m.Answer(pieces...)
	client, err := llm.New(llm.Config{BaseURL: m.URL(), Profile: profile, Retries: -1})
	must(t, err)
	defer client.Close()
	for part := range client.Stream(t.Context(), model.Request{Model: "m", Messages: []model.Message{{Role: model.User, Content: "Hello"}}}) {
		switch p := part.(type) {
		case model.Text:
			text += p.Text
		case model.Thought:
			thought += p.Text
		case model.End:
			end = p
		}
	}
	return text, thought, end
}

// A prompt longer than the model's context got status 200 and an answer without a word.
func TestLMStudio2339(t *testing.T) {
	_, _, end := ask(t, model.Strict, testkit.Role(), testkit.Finish("stop"), testkit.Done())
	if end.Verdict.Cause != messages.CauseEmptyCompletion {
		t.Errorf("an empty answer is judged %+v", end.Verdict)
	}
}

// A stream that was cut had no finish_reason, and was taken for a whole answer.
func TestLiteLLM13348(t *testing.T) {
	for _, profile := range []model.Profile{model.Strict, model.Generic} {
		_, _, end := ask(t, profile, testkit.Text("half an ans"))
		if end.Verdict.Outcome != model.Failed || end.Verdict.Cause != messages.CauseTransportClosed {
			t.Errorf("%s: a cut answer is judged %+v", profile, end.Verdict)
		}
	}
}

// An error in the stream, after the first words, was skipped as a frame without choices.
func TestOpenAINode1292(t *testing.T) {
	_, _, end := ask(t, model.Generic, testkit.Text("half"), testkit.ErrorFrame("out of memory"), testkit.Done())
	if end.Verdict.Cause != messages.CauseProviderError || !strings.Contains(end.Verdict.Message, "out of memory") {
		t.Errorf("an error frame is judged %+v", end.Verdict)
	}
}

// A finish_reason of null, or of "", was taken for the end.
func TestOllama4357(t *testing.T) {
	_, _, end := ask(t, model.Generic, testkit.Text("half"), testkit.Finish(""))
	if end.Verdict.Outcome != model.Failed {
		t.Errorf("an answer with an empty finish_reason is judged %+v", end.Verdict)
	}
}

// Thoughts leaked into the answer where a mark was cut in two.
func TestVLLM45687(t *testing.T) {
	text, thought, _ := ask(t, model.Strict, testkit.Text("<th"), testkit.Text("ink>hm</thi"), testkit.Text("nk>Yes."), testkit.Finish("stop"), testkit.Done())
	if text != "Yes." || thought != "hm" {
		t.Errorf("the answer is %q, the thought %q", text, thought)
	}
}

// A template opened the thought before the first token, and all of it was shown as the answer.
func TestOpenCode32857(t *testing.T) {
	var text, thought string
	take := func(p model.Part) {
		switch p := p.(type) {
		case model.Text:
			text += p.Text
		case model.Thought:
			thought += p.Text
		}
	}
	d := decode.NewThoughts(decode.Implicit)
	d.Push("Let me see.</think>Yes.", take)
	d.Close(take)
	if text != "Yes." || thought != "Let me see." {
		t.Errorf("the answer is %q, the thought %q", text, thought)
	}
}

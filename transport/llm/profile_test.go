package llm_test

import (
	"encoding/json"
	"testing"

	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

// A server is not sent what it refuses.
func TestRefusedFields(t *testing.T) {
	m := testkit.NewModel(t)
	r := hello()
	r.Temperature, r.TopP, r.Seed, r.Stop = new(0.5), new(0.9), new(int64(7)), []string{"x"}
	r.Extra = map[string]json.RawMessage{"ttl": json.RawMessage("300"), "top_k": json.RawMessage("40")}
	all := []string{"temperature", "top_p", "seed", "stop", "ttl"}
	for _, server := range []*llm.ServerProfile{nil, {Refuses: all}} {
		c := client(t, llm.Config{BaseURL: m.URL(), Proxy: "none", Server: server})
		if h := listen(t.Context(), c, r); h.err != nil {
			t.Fatal(h)
		}
	}
	for i, sent := range m.Requests() {
		var body map[string]json.RawMessage
		must(t, json.Unmarshal(sent.Body, &body))
		for _, field := range append(all, "top_k") {
			if want := i == 0 || field == "top_k"; (body[field] != nil) != want {
				t.Errorf("request %d has %s: %v, want %v", i, field, !want, want)
			}
		}
	}
	if len(r.Extra) != 2 || r.Temperature == nil {
		t.Error("the caller's request was changed")
	}
}

// What is known of one model's thoughts says nothing of another's.
func TestDialectOfAModel(t *testing.T) {
	m := testkit.NewModel(t)
	m.Always(testkit.Text("Hm.</think>Hello"), testkit.Finish("stop"), testkit.Done())
	for _, c := range []struct{ of, asked, text, thought string }{
		{"", "m", "Hello", "Hm."}, {"m", "m", "Hello", "Hm."}, {"m", "", "Hello", "Hm."}, {"other", "m", "Hm.Hello", ""},
	} {
		server := &llm.ServerProfile{Thoughts: "implicit", Model: c.of}
		r := hello()
		r.Model = c.asked
		h := listen(t.Context(), client(t, llm.Config{BaseURL: m.URL(), Proxy: "none", Server: server}), r)
		if h.text != c.text || h.thought != c.thought || h.end.Verdict.Outcome != model.Completed {
			t.Errorf("%+v: %s", c, h)
		}
	}
}

// An answer whose thoughts are switched off does not begin inside one.
func TestThoughtsSwitchedOff(t *testing.T) {
	m := testkit.NewModel(t)
	m.Always(testkit.Text("Hello"), testkit.Finish("stop"), testkit.Done())
	off := map[string]json.RawMessage{"chat_template_kwargs": json.RawMessage(`{"enable_thinking":false}`)}
	c := client(t, llm.Config{BaseURL: m.URL(), Proxy: "none", Server: &llm.ServerProfile{Thoughts: "implicit", Off: off}})
	r := hello()
	if h := listen(t.Context(), c, r); h.thought != "Hello" {
		t.Errorf("on: %s", h)
	}
	if r.Extra = off; listen(t.Context(), c, r).text != "Hello" {
		t.Error("off: the answer is taken for a thought")
	}
}

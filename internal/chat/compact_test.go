package chat_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// small is a model with room for 975 tokens beside its answer.
func small(context.Context, string) int { return 1300 }

// reader has a tool whose result has the bytes that the model asks for.
func reader(t *testing.T) *tool.Set {
	t.Helper()
	type size struct {
		Bytes int `json:"bytes"`
	}
	set, err := tool.NewSet(nil, tool.Func(tool.Tool{Name: "read", Access: tool.Read},
		func(_ context.Context, in size) (string, error) { return strings.Repeat("x", in.Bytes), nil }))
	must(t, err)
	return set
}

// The last calls stay with their results, and the last message of the user as it is; later turns begin with the
// summary.
func TestCompactionAtOpenGroup(t *testing.T) {
	config := chat.Config{Tools: reader(t), Conversations: kept(conversation.NewMemory(10)), Window: small}
	answers := []said{{text: strings.Repeat("o", 2500)}, {text: "Let me look.", calls: calls(`read {"bytes":1500}`, `read {"bytes":1500}`)},
		{text: "The user greeted, and wanted two files read."}, {text: "They have x."},
		{text: "The user had two files read, which have x."}, {text: "Bye."}}
	converse(t, "compaction-at-open-group", answers, config, func(w *told) {
		for _, message := range []string{"Hello.", "Read two files.", "Bye."} {
			w.until(w.start(chat.Input{Context: "c_1", Message: message, System: "Be brief."}), nil)
		}
	})
}

func TestCompaction(t *testing.T) {
	old := said{text: strings.Repeat("o", 3000)}
	for _, c := range []struct {
		name    string
		answers []said // of the second turn
		window  int
		cause   messages.Code
		want    string // the sizes of the requests
		log     string
	}{
		{"a summary", []said{{text: "Short."}, {text: "Done."}}, 1300, "", "2:2456 3:90", "history_cut: a summary stands for 2 messages"},
		{"an unknown window", []said{{text: "Done."}}, 0, "", "3:3012", ""},
		{"no summary", []said{{}, {text: "Done."}}, 1300, "", "2:2456 1:6", "history_cut: the oldest messages are left out, without a summary"},
		{"a long summary", []said{{text: strings.Repeat("s", 2900)}}, 1300, messages.CauseLimitExceeded, "2:2456", ""},
		{"once a turn", []said{{text: "Short."}, {calls: calls(`read {"bytes":3000}`)}, {calls: calls(`read {"bytes":3001}`)},
			{text: "Done."}}, 1300, "", "2:2456 3:90 3:3006 3:3007", "history_cut: the oldest messages are left out, because"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &script{answers: append([]said{old}, c.answers...)}
			config := chat.Config{Stream: m.stream, Tools: reader(t), Conversations: kept(conversation.NewMemory(1)),
				Window: func(context.Context, string) int { return c.window }}
			talk(t, chat.Input{Message: "Hello.", Context: "c_1"}, config, nil, nil)
			_, state := talk(t, chat.Input{Message: "Go on.", Context: "c_1"}, config, nil, nil)
			if state.End.Cause != c.cause {
				t.Errorf("the turn ended as %+v, %+v", state.End, state.End.Error)
			}
			if got := sizes(m.requests[1:]); got != c.want {
				t.Errorf("the requests have %s, want %s", got, c.want)
			}
			var log strings.Builder
			for _, n := range state.Notices {
				log.WriteString(string(n.Code) + ": " + n.Text + "; ")
			}
			if !strings.Contains(log.String(), c.log) || c.log == "" && log.String() != "" {
				t.Errorf("the notices are %q", log.String())
			}
		})
	}
}

// If a server refuses a request for its length, the turn sends one with a summary, unless it can leave nothing out.
func TestOverflow(t *testing.T) {
	m := &script{answers: []said{{text: strings.Repeat("o", 3000)}, {}, {text: "Short."}, {text: "Done."}, {}}}
	config := chat.Config{Conversations: kept(conversation.NewMemory(2)), Stream: narrow(m)}
	talk(t, chat.Input{Message: "Hello.", Context: "c_1"}, config, nil, nil)
	_, state := talk(t, chat.Input{Message: "Go on.", Context: "c_1"}, config, nil, nil)
	if got := sizes(m.requests[1:]); got != "3:3012 2:2456 3:90" || state.Status != messages.Completed {
		t.Errorf("the requests have %s, %+v", got, state.End)
	}
	_, state = talk(t, chat.Input{Message: strings.Repeat("m", 3000), Context: "c_2"}, config, nil, nil)
	if state.End.Cause != messages.CauseContextExceeded || len(m.requests) != 5 {
		t.Errorf("%d requests, %+v", len(m.requests), state.End)
	}
}

// narrow is the model, but refuses requests of 3,000 bytes and more.
func narrow(m *script) model.Stream {
	return func(ctx context.Context, r model.Request) iter.Seq2[model.Part, error] {
		answer := m.stream(ctx, r)
		if _, bytes := size(r); bytes < 3000 {
			return answer
		}
		return func(yield func(model.Part, error) bool) {
			e := model.Evidence{Failure: &model.Failure{Message: "the request exceeds the context length"}, Status: 400}
			v := model.Judge(model.Strict, e)
			yield(model.End{Verdict: v, Evidence: e}, v.Err())
		}
	}
}

// sizes are how many messages and bytes the requests have.
func sizes(requests []model.Request) string {
	var out []string
	for _, r := range requests {
		count, bytes := size(r)
		out = append(out, fmt.Sprintf("%d:%d", count, bytes))
	}
	return strings.Join(out, " ")
}

func size(r model.Request) (count, bytes int) {
	for _, m := range r.Messages {
		bytes += len(m.Content)
	}
	return len(r.Messages), bytes
}

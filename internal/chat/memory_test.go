package chat_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// told is what the readers of some turns saw.
type told struct {
	t      *testing.T
	system *actors.System
	script *script
	config chat.Config
	text   strings.Builder
}

// converse runs turns one after the other in virtual time, and compares what their readers saw with the transcript of
// the name, if any.
func converse(t *testing.T, name string, answers []said, config chat.Config, turns func(*told)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := faultplan.Open(t, actors.Config{})
		m := &script{answers: answers}
		config.Stream, config.Provider, config.Bounds.Parallel = m.stream, "lmstudio", cmp.Or(config.Bounds.Parallel, 1)
		w := &told{t: t, system: s, script: m, config: config}
		turns(w)
		if name != "" {
			compare(t, name, w.text.String())
		}
	})
}

func compare(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "transcripts", name+".txt")
	if *update {
		must(t, os.WriteFile(file, []byte(got), 0o644))
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != got {
		t.Errorf("%s says\n%s\nbut the run\n%s%v", file, want, got, err)
	}
}

func (w *told) start(in chat.Input) *actors.Run {
	w.t.Helper()
	job, err := chat.Job(in, w.config)
	must(w.t, err)
	run, err := w.system.Start(w.t.Context(), job, actors.Options{})
	must(w.t, err)
	return run
}

var newID = regexp.MustCompile(`r_[a-z2-7]{26}|c_[a-z0-9]{25}`)

// until reads a run to its end, calls meanwhile for each event, and writes the transcript.
func (w *told) until(run *actors.Run, meanwhile func(messages.Event)) (state messages.State) {
	w.t.Helper()
	var events []messages.Event
	for e, err := range run.Events(w.t.Context(), 0) {
		if err == nil {
			state, err = state.Apply(e)
		}
		must(w.t, err)
		events = append(events, e)
		if meanwhile != nil {
			meanwhile(e)
		}
	}
	said := transcript(w.t, events, w.script.requests)
	w.text.WriteString(newID.ReplaceAllString(said, "ID") + "\n")
	return state
}

func TestTurnsRemember(t *testing.T) {
	config := chat.Config{Tools: tools(t), Conversations: kept(conversation.NewMemory(10))}
	answers := []said{{calls: calls(`weather {"city":"Oslo"}`)}, {text: "It rains."}, {text: "You asked for Oslo."}}
	converse(t, "second-turn-remembers", answers, config, func(w *told) {
		w.until(w.start(chat.Input{Context: "c_1", Message: "How is it in Oslo?", System: "Be brief."}), nil)
		w.until(w.start(chat.Input{Context: "c_1", Message: "What did I ask for?"}), nil)
	})
}

// A fork goes on from an earlier turn, and knows nothing of the later ones; nor does the conversation of the fork.
func TestForkGoesOn(t *testing.T) {
	store := conversation.NewMemory(10)
	answers := []said{{text: "Hello Ann."}, {text: "No."}, {text: "It is Ann."}, {text: "You asked once."}}
	converse(t, "fork", answers, chat.Config{Conversations: kept(store)}, func(w *told) {
		for _, message := range []string{"I am Ann.", "Is my name Bob?"} {
			w.until(w.start(chat.Input{Context: "c_1", Message: message}), nil)
		}
		fork, err := store.Fork("c_1", 1)
		must(t, err)
		w.until(w.start(chat.Input{Context: fork, Message: "What is my name?"}), nil)
		w.until(w.start(chat.Input{Context: "c_1", Message: "How often did I ask?"}), nil)
	})
}

// A caller that keeps the conversation itself gives what was said before.
func TestTurnsOfACallerThatRemembers(t *testing.T) {
	earlier := []model.Message{{Role: model.User, Content: "How is it in Oslo?"}, {Role: model.Assistant, Content: "It rains."}}
	answers := []said{{text: "You asked for Oslo."}, {text: " It pours."}, {text: "Written."}}
	converse(t, "caller-remembers", answers, chat.Config{}, func(w *told) {
		w.until(w.start(chat.Input{Earlier: earlier, Message: "What did I ask for?", System: "Be brief."}), nil)
		w.until(w.start(chat.Input{Earlier: earlier}), nil)
		w.until(w.start(chat.Input{System: "Write."}), nil)
	})
	_, err := chat.Job(chat.Input{Context: "c_1", Earlier: earlier, Message: "Hi"},
		chat.Config{Stream: (&script{}).stream, Conversations: kept(conversation.NewMemory(1))})
	if messages.CodeOf(err) != messages.CauseInvalidInput {
		t.Errorf("a context and what was said before: %v", err)
	}
}

// A conversation has one turn at a time: another waits, and is held if the one before is canceled, which leaves what it
// said, and a note.
func TestOneTurnAtATime(t *testing.T) {
	config := chat.Config{Tools: tools(t), Conversations: kept(conversation.NewMemory(10))}
	answers := []said{{text: "Wait.", calls: calls("hang")}, {text: "Hello again."}}
	converse(t, "busy-then-canceled", answers, config, func(w *told) {
		first := w.start(chat.Input{Context: "c_1", Message: "Hang."})
		var second *actors.Run
		w.until(first, func(e messages.Event) {
			if _, ok := e.Body.(messages.ToolStarted); ok {
				synctest.Wait()
				second = w.start(chat.Input{Context: "c_1", Message: "Hello?"})
				must(t, first.Cancel(context.Background(), "enough"))
			}
		})
		synctest.Wait()
		must(t, w.system.Release(context.Background(), second.ID(), ""))
		w.until(second, nil)
	})
}

// Whenever a turn is canceled, every call has an end, and the next turn has the conversation and knows what was said.
func TestCancelLeavesTheConversation(t *testing.T) {
	t.Run("loop", func(t *testing.T) {
		cancelAnywhere(t, chat.Input{}, []said{{text: "Let me look.", calls: calls(`weather {"city":"Oslo"}`)}, {text: "It rains."}})
	})
	t.Run("stages", func(t *testing.T) {
		cancelAnywhere(t, chat.Input{Stages: true}, []said{{text: search}, looks, {text: rain}, {text: "It rains."}})
	})
}

func cancelAnywhere(t *testing.T, in chat.Input, answers []said) {
	t.Helper()
	in.Context, in.Message = "c_1", "How is it in Oslo?"
	for at, ended := uint64(2), false; !ended; at++ {
		config := chat.Config{Conversations: kept(conversation.NewMemory(1)), Tools: tools(t)}
		asked := false
		converse(t, "", answers, config, func(w *told) {
			first := w.start(in)
			state := w.until(first, func(e messages.Event) {
				if e.Seq == at {
					_ = first.Cancel(context.Background(), "enough")
				}
			})
			for _, c := range state.Calls {
				if !c.Ended {
					t.Errorf("canceled at %d: nobody knows how %s ended", at, c.ID)
				}
			}
			ended = state.Status == messages.Completed
			asked = len(w.script.requests) > 0
			w.script.answers, w.script.requests = []said{{text: "Hello."}}, nil
			if end := w.until(w.start(chat.Input{Context: "c_1", Message: "Go on."}), nil).End; end.Cause != "" {
				t.Fatalf("canceled at %d: the next turn ends as %+v", at, end.Error)
			}
			said := w.script.requests[0].Messages
			if asked && (len(said) < 3 || said[0].Content != in.Message || said[len(said)-1].Content != "Go on." ||
				!strings.Contains(said[len(said)-2].Content, "(This turn was interrupted: ") &&
					said[len(said)-2].Content != "It rains.") {
				t.Errorf("canceled at %d: the next turn knows %+v", at, said)
			}
		})
	}
}

// Where nobody answers, a conversation that has read text of strangers offers no tools that reach the network, in later
// turns too, and each turn says so.
func TestTaintStays(t *testing.T) {
	nothing := func(context.Context, struct{}) (string, error) { return "seen", nil }
	set, err := tool.NewSet(nil, tool.Func(tool.Tool{Name: "look", Access: tool.Read, Outside: true}, nothing),
		tool.Func(tool.Tool{Name: "send", Access: tool.Read, Network: true}, nothing))
	must(t, err)
	m := script{answers: []said{{calls: calls("look")}, {text: "Seen."}, {text: "No."}}}
	config := chat.Config{Stream: m.stream, Conversations: kept(conversation.NewMemory(1)), Tools: set, Unattended: true}
	for _, message := range []string{"Look.", "Send it."} {
		_, state := talk(t, chat.Input{Context: "c_1", Message: message}, config, nil, nil)
		if n := state.Notices; len(n) != 1 || n[0].Code != messages.NoticeToolsWithheld || !strings.HasSuffix(n[0].Text, ": send") {
			t.Errorf("%s: the notices are %+v", message, n)
		}
	}
	for i, want := range []int{2, 1, 1} {
		if got := len(m.requests[i].Tools); got != want {
			t.Errorf("request %d offers %d tools, want %d", i, got, want)
		}
	}
}

// A call that did not run brings no text of strangers. One that did is told of once, in few words.
func TestTaintBegins(t *testing.T) {
	write := tool.Func(tool.Tool{Name: "post", Access: tool.Write, Outside: true, Network: true},
		func(context.Context, struct{}) (string, error) { return "posted", nil })
	more := []tool.Tool{write}
	for _, name := range []string{"a", "b", "c", "d"} {
		more = append(more, does(tool.Tool{Name: name, Network: true}, text("sent")))
	}
	config := chat.Config{Tools: set(t, more...), Conversations: kept(conversation.NewMemory(1))}
	script := []said{{calls: calls("post")}, {calls: calls(`post {"to":1}`)}, {text: "No."}, {calls: calls("post")}, {text: "Yes."}, {text: "Hello."}}
	converse(t, "", script, config, func(w *told) {
		const some = "a, b, c and 2 more"
		for _, c := range []struct{ answer, warning string }{{`"no"`, ""}, {"", ""}, {`"yes, once"`, some}, {"", some}} {
			run := w.start(chat.Input{Context: "c_1", Message: "Go on."})
			lines := w.until(run, w.answers(run, c.answer)).Notices
			if c.warning == "" && len(lines) > 0 || c.warning != "" && (len(lines) != 1 || !strings.HasSuffix(lines[0].Text, ": "+c.warning)) {
				t.Errorf("after the answer %s the notices are %+v", c.answer, lines)
			}
		}
		for i, want := range []int{5, 5, 5, 5, 5, 5} {
			if got := len(w.script.requests[i].Tools); got != want {
				t.Errorf("request %d offers %d tools, want %d", i, got, want)
			}
		}
	})
}

// A turn of another process has the conversation as well.
func TestBusyElsewhere(t *testing.T) {
	store := conversation.NewMemory(1)
	converse(t, "", []said{{text: "Hello."}}, chat.Config{Conversations: kept(store)}, func(w *told) {
		other, err := store.Begin("c_1", conversation.Beginning{Owner: "r_elsewhere", Message: "Hi."})
		must(t, err)
		for _, want := range []messages.Code{messages.CodeConflict, ""} {
			end := w.until(w.start(chat.Input{Context: "c_1", Message: "Hello?"}), nil).End
			if end.Error == nil && want != "" || end.Error != nil && end.Error.Code != want {
				t.Errorf("the turn ends as %+v, %+v", end, end.Error)
			}
			if err := other.End(""); want != "" && err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestNoConversations(t *testing.T) {
	for context, config := range map[string]chat.Config{"c_1": {}, "No good": {Conversations: kept(conversation.NewMemory(1))}} {
		config.Stream = (&script{}).stream
		_, err := chat.Job(chat.Input{Message: "Hi", Context: context}, config)
		if messages.CodeOf(err) != messages.CauseInvalidInput {
			t.Errorf("%s: %v", context, err)
		}
	}
}

package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/webhook"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision/fault"
)

// world is a journal, the marks beside it, and a receiver.
type world struct {
	journal actors.Journal
	mu      sync.Mutex
	marks   webhook.Marks
	got     []string // what was delivered: target, type, and the time since the bubble's begin
	ids     []string
	fail    func(attempt int) error // nil takes everything
	tries   []time.Duration
	began   time.Time
	// hooks are the newest node's.
	hooks    *webhook.Hooks
	callback func(url string) (webhook.Target, error)
	faults   *fault.Board
	added    map[string]string
}

func newWorld() *world { return &world{journal: journal.NewMemory(), began: time.Now()} }

func (w *world) send(_ context.Context, to *webhook.Target, id string, body []byte) (time.Duration, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries = append(w.tries, time.Since(w.began))
	if w.fail != nil {
		if err := w.fail(len(w.tries)); err != nil {
			return 0, err
		}
	}
	var b struct{ Type string }
	if err := json.Unmarshal(body, &b); err != nil {
		return 0, err
	}
	w.got, w.ids = append(w.got, to.Name+" "+b.Type), append(w.ids, id)
	return 0, nil
}

var errAway = &messages.Error{Code: messages.CauseError, Message: "away", Retryable: true}

type question struct {
	Fail bool `json:"fail,omitempty"`
	Ask  int  `json:"ask,omitempty"`
}

// node is a node of the world. With heard, it does not observe its runs: it has to find them.
func (w *world) node(t *testing.T, heard bool, targets ...webhook.Target) (s *actors.System, stop func()) {
	t.Helper()
	hooks := webhook.New(webhook.Config{Targets: targets, Callback: w.callback, AddedForm: "short",
		Added:  func(context.Context, messages.RunID) (map[string]string, error) { return w.added, nil },
		System: func() *actors.System { return s }, Send: w.send, Log: zap.NewNop(),
		Forms: map[string]func(*messages.RunQueued, messages.Event) json.RawMessage{"short": func(*messages.RunQueued, messages.Event) json.RawMessage {
			return json.RawMessage(`{"type":"short"}`)
		}},
		Redact: func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "swordfish", "***")) },
		Load: func(context.Context) (webhook.Marks, error) {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.marks, nil
		},
		Save: func(_ context.Context, m webhook.Marks) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.marks = m
			return nil
		}})
	w.hooks = hooks
	ask := actors.Func("ask", func(ctx context.Context, c *actors.TaskContext, in question) (string, error) {
		for i := range in.Ask {
			if _, err := c.Ask(ctx, messages.InputRequired{Request: fmt.Sprint("q", i), Prompt: "swordfish?"}); err != nil {
				return "", err
			}
		}
		if in.Fail {
			return "", errors.New("it fails")
		}
		return "done", nil
	})
	config := actors.Config{Journal: w.journal, Faults: w.faults, HandOver: true, Drain: time.Second, Jobs: []actors.Definition{ask, hooks.Define()},
		Ceilings: actors.Ceilings{WallClock: time.Hour, Stall: time.Hour}}
	if heard {
		config.Observe = hooks.Observe
	}
	var err error
	s, err = actors.New(t.Context(), config)
	must(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { hooks.Run(ctx) })
	return s, func() { cancel(); running.Wait(); s.Close(context.Background()) }
}

func start(t *testing.T, s *actors.System, input string) messages.RunID {
	t.Helper()
	id, err := s.Submit(t.Context(), messages.Request{Job: "ask", Input: json.RawMessage(input), Principal: "mia"})
	must(t, err)
	return id
}

func (w *world) want(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !slices.Equal(w.got, want) {
		t.Errorf("delivered %q, not %q", w.got, want)
	}
}

func answer(t *testing.T, s *actors.System, id messages.RunID, request string) {
	t.Helper()
	must(t, s.Answer(t.Context(), id, request, json.RawMessage(`"yes"`), "mia"))
}

func TestEventsGoOutInOrder(t *testing.T) {
	for _, heard := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld()
			s, stop := w.node(t, heard, webhook.Target{Name: "all"}, webhook.Target{Name: "other", Jobs: []string{"none"}},
				webhook.Target{Name: "failures", Kinds: []messages.Kind{messages.KindRunFailed}})
			time.Sleep(2 * time.Second)
			id := start(t, s, `{"ask":2,"fail":true}`)
			time.Sleep(time.Minute)
			w.want(t, "all input.required")
			answer(t, s, id, "q0")
			time.Sleep(time.Minute)
			answer(t, s, id, "q1")
			time.Sleep(time.Minute)
			synctest.Wait()
			slices.Sort(w.got[2:]) // two targets do not wait for each other
			w.want(t, "all input.required", "all input.required", "all run.failed", "failures run.failed")
			if strings.Contains(w.ids[0], ".") || w.ids[0] == w.ids[1] {
				t.Errorf("the ids are %q", w.ids)
			}
			time.Sleep(time.Hour)
			w.want(t, w.got[:4]...)
			stop()
		})
	}
}

// A receiver that is away is tried again after 1 to 5 s, then less often, for three days; what comes meanwhile waits its turn,
// and is given up after that.
func TestGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		s, stop := w.node(t, true, webhook.Target{Name: "all"})
		w.fail = func(int) error { return errAway }
		time.Sleep(time.Second)
		start(t, s, `{}`)
		time.Sleep(71 * time.Hour)
		synctest.Wait() // an attempt may begin at this very moment
		if first := w.tries[1] - w.tries[0]; first < time.Second || first > 5*time.Second {
			t.Errorf("the first retry comes after %v", first)
		}
		deliveries := func() messages.Summary {
			all, err := s.List(t.Context(), messages.Query{Job: webhook.Name, Everyone: true})
			if err != nil || len(all) != 1 {
				t.Fatalf("%v, %v", all, err)
			}
			return all[0]
		}
		if d := deliveries(); d.Status.IsEnded() {
			t.Errorf("after 71 hours the delivery is %s", d.Status)
		}
		time.Sleep(3 * time.Hour)
		synctest.Wait()
		d := deliveries()
		state, err := s.State(t.Context(), d.RunID)
		if err != nil || state.Status != messages.Failed || !strings.Contains(state.End.Error.Message, "gave up 1 of 1 events for all: away") {
			t.Errorf("after 74 hours: %+v, %v", state.End, err)
		}
		tries := len(w.tries)
		time.Sleep(20 * time.Hour)
		synctest.Wait()
		if len(w.tries) != tries {
			t.Errorf("%d attempts after it was given up", len(w.tries)-tries)
		}
		id := start(t, s, `{"ask":1}`)
		time.Sleep(time.Second)
		answer(t, s, id, "q0")
		time.Sleep(30 * time.Hour)
		synctest.Wait()
		if n := len(w.tries) - tries; n < 40 || n > 100 {
			t.Errorf("%d attempts in 30 hours", n)
		}
		w.mu.Lock()
		w.fail = nil
		w.mu.Unlock()
		time.Sleep(time.Hour + time.Minute)
		w.want(t, "all input.required", "all run.completed") // though the run's log has gone after a day
		stop()
	})
}

// What one node has not delivered the next one does, and nothing twice.
func TestNodesTakeOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		s, stop := w.node(t, true, webhook.Target{Name: "all"})
		time.Sleep(time.Second)
		w.fail = func(int) error { return errAway }
		id := start(t, s, `{"ask":1}`)
		time.Sleep(10 * time.Second)
		stop()
		s, stop = w.node(t, false) // one without webhooks, in whose time the run ends
		answer(t, s, id, "q0")
		time.Sleep(time.Minute)
		stop()
		w.want(t)
		w.fail = nil
		_, stop = w.node(t, true, webhook.Target{Name: "all"})
		time.Sleep(time.Minute)
		w.want(t, "all input.required", "all run.completed")
		stop()
		_, stop = w.node(t, true, webhook.Target{Name: "all"}, webhook.Target{Name: "new"})
		time.Sleep(10 * time.Minute)
		w.want(t, "all input.required", "all run.completed") // a new target hears of what comes
		stop()
	})
}

// A caller's URL gets its run alone, and an operator may have all sent again.
func TestCallbacksAndResending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.callback = func(url string) (webhook.Target, error) {
			if url != "good" {
				return webhook.Target{}, errors.New("no such host")
			}
			return webhook.Target{URL: url}, nil
		}
		s, stop := w.node(t, true)
		defer stop()
		time.Sleep(time.Second)
		var ids []messages.RunID
		for _, url := range []string{"", "bad", "good"} {
			id, err := s.Submit(t.Context(), messages.Request{Job: "ask", Input: json.RawMessage(`{}`), Labels: map[string]string{messages.CallbackLabel: url}})
			must(t, err)
			ids = append(ids, id)
		}
		time.Sleep(time.Second)
		w.want(t, "callback run.completed")
		lines, err := w.hooks.Operate(t.Context(), webhook.Order{Action: "resend", Run: ids[2]})
		if err != nil || len(lines) != 1 || lines[0].Name != "callback" {
			t.Errorf("%+v, %v", lines, err)
		}
		time.Sleep(time.Second)
		w.want(t, "callback run.completed", "callback run.completed")
		if w.ids[0] != w.ids[1] {
			t.Errorf("sent again under another id: %q", w.ids)
		}
		if _, err := s.Submit(t.Context(), messages.Request{Job: "ask", Input: json.RawMessage(`{}`), Labels: map[string]string{
			messages.CallbackLabel: "good", messages.CallbackFormLabel: "short"}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		w.want(t, "callback run.completed", "callback run.completed", "callback short")
		for _, wrong := range []webhook.Order{{Action: "resend", Run: ids[1]}, {Action: "resend", Run: "r_none"}, {Action: "test", Name: "none"}, {}} {
			if _, err := w.hooks.Operate(t.Context(), wrong); err == nil {
				t.Errorf("%+v has no error", wrong)
			}
		}
		if lines, err := w.hooks.Operate(t.Context(), webhook.Order{Action: "ls"}); err != nil || lines[0].Delivered != 3 || lines[0].Trying != 0 {
			t.Errorf("%+v, %v", lines, err)
		}
	})
}

// URLs that callers add to a run get what it says, in their form, also on a node that starts later; removed ones get
// nothing.
func TestAddedCallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.callback = func(url string) (webhook.Target, error) {
			if url == "" {
				return webhook.Target{}, errors.New("no URL")
			}
			return webhook.Target{URL: url}, nil
		}
		s, stop := w.node(t, true)
		id, err := s.Submit(t.Context(), messages.Request{Job: "ask", Input: json.RawMessage(`{"ask":1}`), Principal: "mia",
			Labels: map[string]string{messages.CallbackLabel: "first"}})
		must(t, err)
		time.Sleep(time.Second)
		w.want(t, "callback input.required")
		w.added = map[string]string{"1": "", "c2": "second"}
		answer(t, s, id, "q0")
		time.Sleep(time.Second)
		w.want(t, "callback input.required", "callback c2 short", "callback c2 short") // it gets the question, too
		if lines, err := w.hooks.Operate(t.Context(), webhook.Order{Action: "ls"}); err != nil || len(lines) != 1 || lines[0].Delivered != 2 {
			t.Errorf("the operator sees %+v, %v", lines, err)
		}
		stop()
		_, stop = w.node(t, false)
		defer stop()
		time.Sleep(time.Minute)
		w.want(t, "callback input.required", "callback c2 short", "callback c2 short")
	})
}

func TestCallersCannotDeliver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		s, stop := w.node(t, true, webhook.Target{Name: "all"})
		defer stop()
		time.Sleep(time.Second)
		id := start(t, s, `{}`)
		time.Sleep(time.Second)
		w.want(t, "all run.completed")
		forged, err := s.Submit(t.Context(), messages.Request{Job: webhook.Name, Input: json.RawMessage(`{"target":"all","run":"` + string(id) + `"}`)})
		must(t, err)
		time.Sleep(time.Second)
		if state, err := s.State(t.Context(), forged); err != nil || state.Status != messages.Failed {
			t.Errorf("a caller's delivery: %+v, %v", state.End, err)
		}
		w.want(t, "all run.completed")
	})
}

// A message that a fault point stops is in the log of its delivery, and goes out later.
func TestInjectedFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.faults = new(fault.Board)
		s, stop := w.node(t, true, webhook.Target{Name: "all"})
		must(t, w.faults.Arm(fault.Rule{Point: fault.WebhookFail, Count: 1}))
		start(t, s, `{}`)
		time.Sleep(time.Minute)
		w.want(t, "all run.completed")
		all, err := s.List(t.Context(), messages.Query{Job: webhook.Name, Everyone: true})
		if err != nil || len(all) != 1 {
			t.Fatalf("%v, %v", all, err)
		}
		n := 0
		for e, err := range s.Events(t.Context(), all[0].RunID, 0) {
			if f, ok := e.Body.(messages.FaultInjected); err == nil && ok && f.Fault == string(fault.WebhookFail) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("the delivery's log has %d records", n)
		}
		stop()
	})
}

func TestFileSaysAllThatIsWrong(t *testing.T) {
	text, err := os.ReadFile("testdata/wrong.yaml")
	must(t, err)
	checks := webhook.Checks{Jobs: []string{"generate"},
		URL: func(t webhook.Target) error {
			if t.URL != "fine" {
				return errors.New("this is no URL")
			}
			return nil
		},
		Secret: func(s string) error {
			if s != "good" {
				return errors.New("this is no secret")
			}
			return nil
		}}
	want, err := os.ReadFile("testdata/wrong.txt")
	must(t, err)
	_, err = webhook.Read(text, checks)
	if err == nil || err.Error()+"\n" != string(want) {
		t.Errorf("wrong:\n%v\nwant\n%s", err, want)
	}
	good, err := webhook.Read([]byte("webhooks: [{name: a, url: fine, secret: good}, {name: b, url: fine, secret: [good, good], allow_private: true}]"), checks)
	if err != nil || len(good) != 2 || len(good[0].Secrets) != 1 || len(good[1].Secrets) != 2 || !good[1].AllowPrivate {
		t.Errorf("%+v, %v", good, err)
	}
}

var must = fatal.IfError

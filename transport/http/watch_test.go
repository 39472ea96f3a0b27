package http_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// listed is what a client holds: the list as it was read, with the changes that came after.
type listed struct {
	w     *world
	c     *websocket.Conn
	token []string
	runs  map[messages.RunID]messages.Summary
}

func (w *world) watch(header ...string) *listed {
	w.t.Helper()
	l := &listed{w: w, c: w.dial(header...), token: header}
	w.send(l.c, `{"op":"subscribe","id":"list"}`)
	l.next()
	return l
}

// next takes one message.
func (l *listed) next() {
	l.w.t.Helper()
	m := l.w.receive(l.c)
	var got struct{ Runs []messages.Summary }
	switch m.Op {
	case "list":
		l.runs = map[messages.RunID]messages.Summary{}
		answer := l.w.call("GET", "/v1/runs", "", l.token...)
		must(l.w.t, json.Unmarshal([]byte(answer.body), &got))
	case "runs":
		must(l.w.t, json.Unmarshal(m.Runs, &got.Runs))
	default:
		l.w.t.Fatalf("%+v", m)
	}
	for _, run := range got.Runs {
		l.runs[run.RunID] = run
	}
}

// until takes messages until the run has the status.
func (l *listed) until(id messages.RunID, status messages.Status) {
	l.w.t.Helper()
	for l.runs[id].Status != status {
		l.next()
	}
}

// A client that watches the list has the statuses that the list has and what runs have spent, and hears nothing of the texts in
// between.
func TestWatchTheList(t *testing.T) {
	pay := make(chan struct{})
	w := newWorld(t, actors.Func("pay", func(ctx context.Context, t *actors.TaskContext, _ tale) (string, error) {
		<-pay
		err := t.Emit(messages.UsageReported{By: "program", Usage: messages.Usage{PromptTokens: new(int64(7))}}, "")
		<-ctx.Done()
		return "", err
	}))
	before, l := w.start(`{"hang":true,"word":"before"}`), w.watch()
	l.until(before, messages.Processing)
	asks := w.start(`{"words":500,"ask":true}`)
	w.until(asks, messages.KindInputRequired)
	l.until(asks, messages.Processing)
	if got := w.call("POST", "/v1/runs/"+string(before)+"/cancel", ""); got.StatusCode != 202 {
		t.Fatal(got.body)
	}
	l.until(before, messages.Canceled)
	w.answer(asks)
	l.until(asks, messages.Completed)
	pays, err := w.system.Submit(t.Context(), messages.Request{Job: "pay"})
	must(t, err)
	l.until(pays, messages.Processing)
	close(pay)
	for now := l.runs[pays]; now.Spent().Input != 7; now = l.runs[pays] {
		l.next()
	}
	again := w.watch()
	if !maps.EqualFunc(l.runs, again.runs, func(a, b messages.Summary) bool { return a.Status == b.Status && a.Cause == b.Cause }) {
		t.Errorf("who watched has %v, who comes has %v", l.runs, again.runs)
	}
	if got := again.runs[before]; got.Input != "before" {
		t.Errorf("the list says %+v", got)
	}
	w.send(l.c, `{"op":"unsubscribe","id":"list"}`)
	w.send(l.c, `{"op":"unsubscribe","id":"list"}`)
	if m := w.receive(l.c); m.Op != "problem" {
		t.Errorf("after the end of the watch: %+v", m)
	}
}

// The list as a stream begins with its first page, and says what changes in what the query asks for. Seed: it was at fault
// that clients had "to poll `lmstxt_list_runs`".
func TestStreamOfTheList(t *testing.T) {
	w := newWorld(t)
	before := w.start(`{"hang":true}`)
	for accept, frame := range map[string]string{"text/event-stream": "event: %s\ndata: ", "application/x-ndjson": `{"%s":`} {
		ctx, leave := context.WithCancel(t.Context())
		response := w.open(ctx, "GET", "/v1/runs?label=color:red", "", "Accept", accept)
		r, said := bufio.NewReader(response.Body), ""
		until := func(name, has string) {
			t.Helper()
			for want := fmt.Sprintf(frame, name); !strings.Contains(said, want) || !strings.Contains(said[strings.Index(said, want):], has); {
				line, err := r.ReadString('\n')
				must(t, err)
				said += line
			}
		}
		until("list", `"runs":[]`)
		got := w.call("POST", "/v1/runs", `{"job":"tell","input":{"hang":true},"labels":{"color":"red"}}`)
		var state messages.State
		must(t, json.Unmarshal([]byte(got.body), &state))
		until("runs", string(state.RunID))
		w.call("POST", "/v1/runs/"+string(state.RunID)+"/cancel", "")
		until("runs", `"status":"canceled"`)
		w.call("DELETE", "/v1/runs/"+string(state.RunID), "")
		if strings.Contains(said, string(before)) {
			t.Errorf("a run without the label is in %s", said)
		}
		leave()
		response.Body.Close()
	}
}

// DESIGN 9: "a run is visible to its principal alone". ann and bob hear their own runs only.
func TestWatchersSeeTheirOwnRuns(t *testing.T) {
	w, tokens, _ := guarded(t)
	watching := map[string]*listed{}
	for _, name := range []string{"ann", "bob"} {
		watching[name] = w.watch("Authorization", "Bearer "+tokens[name])
	}
	for name, l := range watching {
		for i := range 3 {
			got := w.call("POST", "/v1/runs", fmt.Sprintf(`{"job":"tell","input":{"words":%d}}`, i), l.token...)
			var state messages.State
			if err := json.Unmarshal([]byte(got.body), &state); err != nil {
				t.Fatal(got.body)
			}
			l.until(state.RunID, messages.Completed)
		}
		for _, run := range slices.Collect(maps.Values(l.runs)) {
			if run.Principal != name {
				t.Errorf("%s hears of %+v", name, run)
			}
		}
	}
	for name, l := range watching {
		if len(l.runs) != 3 {
			t.Errorf("%s has %d runs", name, len(l.runs))
		}
	}
}

// A client that watches the list can tell a run that goes on from a silent one, without a message for each event.
func TestListTellsOfRunsThatGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(context.Background())
		system := newSystem(t, actors.Func("logs", func(ctx context.Context, t *actors.TaskContext, _ tale) (string, error) {
			for range 35 {
				time.Sleep(time.Second)
				if err := t.Log(messages.LogInfo, "works"); err != nil {
					return "", err
				}
			}
			<-ctx.Done()
			return "", ctx.Err()
		}))
		c, err := inBubble(t, ctx, newAPI(system)).Dial(ctx, "", "")
		must(t, err)
		id, err := system.Submit(ctx, messages.Request{Job: "logs"})
		must(t, err)
		time.Sleep(time.Second / 2)
		got := make(chan string, 1)
		go func() {
			_, _ = io.WriteString(c, "GET /v1/runs HTTP/1.1\r\nHost: localhost\r\nAccept: application/x-ndjson\r\n\r\n")
			data, _ := io.ReadAll(c)
			got <- string(data)
		}()
		time.Sleep(2 * time.Minute)
		stop()
		if text := <-got; strings.Count(text, `{"runs":{"runs":[`) != 4 {
			t.Errorf("the list told of the run at other times than after 1, 11, 21 and 31 s: %q", text)
		}
		must(t, system.Cancel(context.Background(), id, "", ""))
		synctest.Wait()
	})
}

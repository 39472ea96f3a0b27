package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// openStream has a client with a session hear what belongs to no request. It returns once the stream is open.
func openStream(t *testing.T, c *client) {
	t.Helper()
	if c.how.stdio {
		return
	}
	ctx, leave := context.WithCancel(context.Background())
	t.Cleanup(leave)
	response := testkit.OpenURL(ctx, t, http.MethodGet, c.url, "", "Accept", "text/event-stream", "Mcp-Session-Id", c.session,
		"MCP-Protocol-Version", "2025-11-25")
	if response.StatusCode != http.StatusOK {
		t.Fatal(response.Status)
	}
	go func() { defer response.Body.Close(); c.read(response, c.inbox) }()
}

// stepwise is a job that does a step each time it is told to: a milestone, an artifact, a delta, or its end.
func stepwise() (job actors.Definition, steps chan messages.Body) {
	steps = make(chan messages.Body)
	return actors.Func("stepwise", func(ctx context.Context, k *actors.TaskContext, _ noInput) (string, error) {
		for {
			select {
			case b := <-steps:
				if b == nil {
					return "done", nil
				}
				if err := k.Emit(b, ""); err != nil {
					return "", err
				}
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}
	}), steps
}

func milestone(call int) messages.Body {
	return messages.ToolStarted{Call: fmt.Sprint("c", call), Tool: "look"}
}

func artifact(name string) messages.Body {
	return messages.ArtifactWritten{Artifact: messages.Artifact{Name: name, Bytes: 1, SHA256: messages.Digest("x")}}
}

func stepDoor(t *testing.T) (*mcp.Server, *actors.System, chan messages.Body) {
	t.Helper()
	job, steps := stepwise()
	s, system := doorTo(t, mcp.Config{}, []actors.Definition{job}, mcp.JobTool{Job: "stepwise"})
	return s, system, steps
}

// stepping starts a run of the principal's and returns when its task has begun, so that the steps are all that
// happens.
func stepping(t *testing.T, system *actors.System, principal string) messages.RunID {
	t.Helper()
	id, err := system.Submit(t.Context(), messages.Request{Job: "stepwise", Principal: principal})
	must(t, err)
	seen(t, system, id, messages.KindTaskStarted, 1)
	return id
}

// seen returns when the run has as many events of the kind.
func seen(t *testing.T, system *actors.System, id messages.RunID, kind messages.Kind, n int) {
	t.Helper()
	for e, err := range system.Events(t.Context(), id, 0) {
		must(t, err)
		if e.Kind() == kind {
			n--
		}
		if n == 0 {
			return
		}
	}
	t.Fatalf("the run ended without %s", kind)
}

func uriIn(t *testing.T, m message) string {
	t.Helper()
	return read[struct {
		URI string `json:"uri"`
	}](t, m.Params).URI
}

const updated = "notifications/resources/updated"

// Issue 5: "subscriptions that only reach subscribers". A session is told of what it subscribed to, as it changes,
// and of nothing else; and of nothing more once it unsubscribed.
func TestSubscribedSessionsAreTold(t *testing.T) {
	inLegacy(t, func(t *testing.T, how era) {
		s, system, steps := stepDoor(t)
		id, c := stepping(t, system, "ann"), dialAs(t, s, how, as{principal: "ann"})
		other := dialAs(t, s, how, as{principal: "ann"})
		for _, c := range []*client{c, other} {
			openStream(t, c)
		}
		run, events, llms := mcp.RunURI(id), mcp.RunURI(id)+"/events", mcp.ArtifactURI(id, "llms.txt")
		for _, uri := range []string{run, events, llms, "notes://today", run} {
			c.do("resources/subscribe", map[string]any{"uri": uri}).result(t)
		}
		other.do("resources/subscribe", map[string]any{"uri": "notes://tomorrow"}).result(t)
		expect := func(want ...string) {
			t.Helper()
			var got []string
			for range want {
				got = append(got, uriIn(t, c.hears(t, updated)))
			}
			slices.Sort(got)
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Fatalf("told of %v, want %v", got, want)
			}
		}
		steps <- milestone(1)
		expect(run, events)
		steps <- artifact("other.txt")
		expect(run, events)
		steps <- artifact("llms.txt")
		expect(run, events, llms)
		s.Updated("notes://today")
		expect("notes://today")
		c.do("resources/unsubscribe", map[string]any{"uri": events}).result(t)
		steps <- milestone(2)
		expect(run)
		steps <- nil
		over(t, system, id)
		s.Updated("notes://today") // comes last: what else is told is before it
		told := map[string]bool{}
		for uri := ""; uri != "notes://today"; {
			uri = uriIn(t, c.hears(t, updated))
			told[uri] = true
		}
		if told[events] {
			t.Errorf("told of %v", told)
		}
		for uri := ""; !told[run] || !told[llms]; { // the end changes all that is of the run
			uri = uriIn(t, c.hears(t, updated))
			told[uri] = true
		}
		s.Updated("notes://tomorrow")
		if uri := uriIn(t, other.hears(t, updated)); uri != "notes://tomorrow" {
			t.Errorf("another session is told of %s", uri)
		}
	})
}

// The resources of another's run are not there, like those that never were.
func TestSubscribingToAnothersRun(t *testing.T) {
	s, system, _ := stepDoor(t)
	id, bob := stepping(t, system, "ann"), dialAs(t, s, legacyHTTP, as{principal: "bob"})
	for _, uri := range []string{mcp.RunURI(id), mcp.RunURI(id) + "/events", mcp.ArtifactURI(id, "llms.txt"), "run://r_none",
		"run://", "run://x/y"} {
		m := bob.do("resources/subscribe", map[string]any{"uri": uri})
		if m.code(t) != protocol.RESOURCE_NOT_FOUND || m.Error.Message != "there is no resource "+uri ||
			string(m.Error.Data) != fmt.Sprintf(`{"uri":%q}`, uri) {
			t.Errorf("%s: %+v", uri, m.Error)
		}
	}
	if code := bob.do("resources/subscribe", nil).code(t); code != protocol.INVALID_PARAMS {
		t.Errorf("no uri: %d", code)
	}
	modern := dialAs(t, s, modernHTTP, as{principal: "ann"})
	for _, method := range []string{"resources/subscribe", "resources/unsubscribe"} {
		if code := modern.do(method, map[string]any{"uri": mcp.RunURI(id)}).code(t); code != protocol.METHOD_NOT_FOUND {
			t.Errorf("%s for 2026-07-28: %d", method, code)
		}
	}
}

// DESIGN 9: "Every limit has a default, a flag and a typed error."
func TestSubscriptionsAreBounded(t *testing.T) {
	s, _, _ := stepDoor(t)
	c := dialAs(t, s, legacyHTTP, as{})
	subscribe := func(i int) message {
		return c.do("resources/subscribe", map[string]any{"uri": fmt.Sprint("notes://", i)})
	}
	for i := range 64 {
		subscribe(i).result(t)
	}
	subscribe(7).result(t) // is there already
	m := subscribe(64)
	if m.code(t) != protocol.INVALID_PARAMS || string(m.Error.Data) != `{"code":"limit_exceeded"}` {
		t.Errorf("%+v", m.Error)
	}
	c.do("resources/unsubscribe", map[string]any{"uri": "notes://7"}).result(t)
	subscribe(64).result(t)
}

// Only the session that made a task is told how it stands.
func TestLegacyTaskStatusIsTold(t *testing.T) {
	inLegacy(t, func(t *testing.T, how era) {
		s, _ := taskDoor(t)
		c, other := dialAs(t, s, how, as{capabilities: asks}), dialAs(t, s, how, as{capabilities: asks})
		openStream(t, c)
		openStream(t, other)
		task := legacyBegin(t, c, "confirm", map[string]any{})
		next := func() string {
			got := read[legacyTask](t, c.hears(t, "notifications/tasks/status").Params)
			if got.ID != task.ID {
				t.Errorf("told of %s", got.ID)
			}
			return got.Status
		}
		for status := task.Status; status != "input_required"; { // the reply says it where the run was as quick
			status = next()
		}
		c.do("tasks/cancel", about(task.ID)).result(t)
		for status := ""; status != "cancelled"; {
			status = next()
		}
		other.do("resources/subscribe", map[string]any{"uri": "notes://x"}).result(t)
		s.Updated("notes://x")
		select {
		case m := <-other.inbox:
			if m.Method != updated {
				t.Errorf("another session is told %s %s", m.Method, m.Params)
			}
		case <-t.Context().Done():
		}
	})
}

// quick is a runtime whose runs have ended before anybody looks.
type quick struct{ *actors.System }

func (q quick) Submit(ctx context.Context, r messages.Request) (messages.RunID, error) {
	id, err := q.System.Submit(ctx, r)
	for range q.Events(ctx, id, 0) {
	}
	return id, err
}

// What a run writes before the door has looked at it is told as well.
func TestSubscribingToAFileOfAQuickRun(t *testing.T) {
	_, _, system := working(t, map[string]string{"a.txt": "A"})
	s := serverOf(t, mcp.Config{Runs: quick{system}, Name: "lastword", Version: "test"}, mcp.JobTool{Job: "work"})
	s.AddChanges(fileChanges())
	c := dial(t, s, legacyStdio)
	c.do("resources/subscribe", map[string]any{"uri": "file://out/a.txt"}).result(t)
	c.begin(work{})
	c.hears(t, updated)
}

package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// listening is a stream of subscriptions.
type listening struct {
	t *testing.T
	c *client
	x *exchange
}

const acknowledged = "notifications/subscriptions/acknowledged"

// listen opens a stream, and returns what was established.
func listen(t *testing.T, c *client, wishes map[string]any) (*listening, string) {
	t.Helper()
	l := &listening{t, c, c.start("subscriptions/listen", map[string]any{"notifications": wishes})}
	m := l.next()
	if m.Method != acknowledged {
		t.Fatalf("the first message is %+v", m)
	}
	return l, string(read[struct {
		Notifications json.RawMessage `json:"notifications"`
	}](t, m.Params).Notifications)
}

// next is the stream's next message, which must name the stream.
func (l *listening) next() message {
	l.t.Helper()
	inbox := l.x.inbox
	if l.c.how.stdio {
		inbox = l.c.inbox
	}
	select {
	case m := <-inbox:
		type named struct {
			Meta map[string]json.RawMessage `json:"_meta"`
		}
		data := m.Params
		if m.Method == "" {
			data = m.Result
		}
		if id := string(read[named](l.t, data).Meta[protocol.MetaKeySubscriptionID]); id != l.x.id {
			l.t.Errorf("a message of the stream %s names %q: %s", l.x.id, id, data)
		}
		return m
	case <-time.After(patience):
		l.t.Fatal("nothing came")
		return message{}
	}
}

// task is the next message, which must be of a task.
func (l *listening) task() taskView {
	l.t.Helper()
	m := l.next()
	if m.Method != "notifications/tasks" {
		l.t.Fatalf("not of a task: %s %s", m.Method, m.Params)
	}
	return read[taskView](l.t, m.Params)
}

// "notifications on listen with taskIds": the whole task, as tasks/get has it, whenever it stands otherwise, for the
// caller's own tasks alone.
func TestListenTellsOfTasks(t *testing.T) {
	inModern(t, func(t *testing.T, how era) {
		s, _ := taskDoor(t)
		c := dialAs(t, s, how, as{principal: "ann", capabilities: both})
		bob := dialAs(t, s, modernHTTP, as{principal: "bob", capabilities: tasks})
		foreign := begin(t, bob, "waits", map[string]any{}).ID
		id := begin(t, c, "confirm", map[string]any{}).ID
		becomes(t, c, id, "input_required", 1)
		l, established := listen(t, c, map[string]any{"taskIds": []any{string(id), string(foreign), "r_none"}})
		if established != fmt.Sprintf(`{"taskIds":[%q]}`, id) {
			t.Errorf("established is %s", established)
		}
		task := l.task()
		if task.ID != id || task.Status != "input_required" || task.Inputs["sure"].Params.Message != "Delete it?" {
			t.Fatalf("%+v", task)
		}
		c.update(id, map[string]any{"sure": accepted(map[string]any{"value": true})}).result(t)
		task = l.task()
		for task.Status == "working" {
			task = l.task()
		}
		if task.ID != id || task.Status != "completed" || string(task.Result.Structured.Result) != `"answered true"` {
			t.Errorf("%+v", task)
		}
		l, _ = listen(t, c, map[string]any{"taskIds": []any{string(id)}}) // of what has ended nobody waits for a change
		if task := l.task(); task.Status != "completed" {
			t.Errorf("%+v", task)
		}
	})
}

// A stream of 2026-07-28 is told of the resources that it asked for, as they change, and of no other.
func TestListenTellsOfResources(t *testing.T) {
	inModern(t, func(t *testing.T, how era) {
		s, system, steps := stepDoor(t)
		id, foreign := stepping(t, system, "ann"), stepping(t, system, "bob")
		c := dialAs(t, s, how, as{principal: "ann"})
		run, llms := mcp.RunURI(id), mcp.ArtifactURI(id, "llms.txt")
		l, established := listen(t, c, map[string]any{
			"resourceSubscriptions": []any{run, mcp.RunURI(foreign), "run://r_none", llms, "notes://today"}})
		if want := fmt.Sprintf(`{"resourceSubscriptions":[%q,%q,"notes://today"]}`, run, llms); established != want {
			t.Errorf("established is %s, not %s", established, want)
		}
		expect := func(want ...string) {
			t.Helper()
			var got []string
			for range want {
				m := l.next()
				if m.Method != updated {
					t.Fatalf("%s %s", m.Method, m.Params)
				}
				got = append(got, uriIn(t, m))
			}
			slices.Sort(got)
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Fatalf("told of %v, want %v", got, want)
			}
		}
		s.Updated("notes://tomorrow")
		s.Updated("notes://today")
		expect("notes://today")
		steps <- milestone(1) // of one of the two runs
		steps <- milestone(2)
		steps <- nil
		steps <- nil
		over(t, system, id)
		told := map[string]bool{}
		for !told[llms] || !told[run] {
			told[uriIn(t, l.next())] = true
		}
		if len(told) != 2 {
			t.Errorf("told of %v", told)
		}
	})
}

// Changed lists reach the streams that asked for that list.
func TestListenTellsOfLists(t *testing.T) {
	inModern(t, func(t *testing.T, how era) {
		s, _ := taskDoor(t)
		c := dialAs(t, s, how, as{})
		l, established := listen(t, c, map[string]any{"toolsListChanged": true, "resourcesListChanged": false})
		if established != `{"toolsListChanged":true}` {
			t.Errorf("established is %s", established)
		}
		s.AddPrompt(mcp.Prompt{Name: "late"})
		add := func(context.Context, struct{}) (*mcp.Result, error) { return nil, nil }
		must(t, mcp.AddTool(s, mcp.Tool{Name: "late"}, add))
		if m := l.next(); m.Method != protocol.MethodNotificationToolsListChanged {
			t.Errorf("%s %s", m.Method, m.Params)
		}
	})
}

// What cannot be established is not, and a stream with nothing to tell ends at once.
func TestListenToNothing(t *testing.T) {
	s, system, _ := stepDoor(t)
	id := stepping(t, system, "ann")
	bob := dialAs(t, s, modernHTTP, as{principal: "bob", capabilities: tasks})
	l, established := listen(t, bob, map[string]any{"resourceSubscriptions": []any{mcp.RunURI(id)}, "taskIds": []any{string(id)}})
	if established != `{}` {
		t.Errorf("established is %s", established)
	}
	if m := l.next(); m.Method != "" || m.Error != nil {
		t.Errorf("%+v", m)
	}
	many := make([]any, 65)
	for i := range many {
		many[i] = fmt.Sprint("notes://", i)
	}
	for _, c := range []struct {
		client *client
		wishes map[string]any
		code   int
	}{
		{bob, map[string]any{"resourceSubscriptions": many}, protocol.INVALID_PARAMS},
		{bob, map[string]any{"resourceSubscriptions": many[:40], "taskIds": many[40:]}, protocol.INVALID_PARAMS},
		{dialAs(t, s, modernHTTP, as{}), map[string]any{"taskIds": []any{"r_none"}}, -32021},
		{dialAs(t, s, legacyHTTP, as{}), map[string]any{}, protocol.METHOD_NOT_FOUND},
	} {
		m := c.client.do("subscriptions/listen", map[string]any{"notifications": c.wishes})
		if code := m.code(t); code != c.code {
			t.Errorf("%d, want %d", code, c.code)
		}
	}
}

// "full task state at each status change": an event that changes no status is not told.
func TestListenTellsOfStatusesAlone(t *testing.T) {
	release := make(chan struct{})
	deaf := func(ctx context.Context, _ *actors.TaskContext, _ noInput) (string, error) {
		<-release
		return "", context.Cause(ctx)
	}
	s := serving(t, []actors.Definition{actors.Func("deaf", deaf)}, mcp.JobTool{Job: "deaf"})
	c := dialAs(t, s, modernHTTP, as{capabilities: tasks})
	id := begin(t, c, "deaf", map[string]any{}).ID
	l, _ := listen(t, c, map[string]any{"taskIds": []any{string(id)}, "resourceSubscriptions": []any{mcp.RunURI(id)}})
	var statuses []string
	tell := func(m message) {
		if m.Method == "notifications/tasks" {
			statuses = append(statuses, read[taskView](t, m.Params).Status)
		}
	}
	tell(l.next())
	c.do("tasks/cancel", about(id)).result(t)
	for m := l.next(); ; m = l.next() { // the run itself has changed
		tell(m)
		if m.Method == updated {
			break
		}
	}
	s.Updated(mcp.RunURI(id)) // what came before this was told before it
	tell(l.next())
	close(release)
	for statuses[len(statuses)-1] != "cancelled" {
		tell(l.next())
	}
	if !slices.Equal(statuses, []string{"working", "cancelled"}) {
		t.Errorf("the task is told as %v", statuses)
	}
}

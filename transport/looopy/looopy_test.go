package looopy_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/looopy"
)

// event is one server-sent event.
type event struct {
	id, name string
	data     map[string]any
}

func (e event) kind() string { return cmp.Or(e.name, fmt.Sprint(e.data["kind"])) }

// state is the status of a task-status, in either form.
func (e event) state() string {
	if object, ok := e.data["status"].(map[string]any); ok {
		return fmt.Sprint(object["state"])
	}
	return fmt.Sprint(e.data["status"])
}

func open(runs door.Runs) http.Handler {
	return looopy.New(door.New(door.Config{Runs: runs, Jobs: []messages.JobInfo{{Name: "chat"}}, Open: files}))
}

// files holds every file.
func files(_ context.Context, _ messages.State, a messages.Artifact) (io.ReadSeekCloser, error) {
	return struct {
		io.ReadSeeker
		io.Closer
	}{strings.NewReader("whole"), io.NopCloser(nil)}, nil
}

// ask sends a request as the principal, and returns the status and the events.
func ask(t *testing.T, s http.Handler, method, target, body string, header ...string) (int, []event) {
	t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r.WithContext(auth.With(r.Context(), auth.Principal{Name: "ada", Scopes: []auth.Scope{auth.Admin}})))
	var all []event
	for frame := range strings.SplitSeq(strings.TrimSuffix(w.Body.String(), "\n\n"), "\n\n") {
		var e event
		for line := range strings.Lines(frame) {
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "id":
				e.id = value
			case "event":
				e.name = value
			case "data":
				if err := json.Unmarshal([]byte(value), &e.data); err != nil {
					t.Fatalf("%v in %s", err, value)
				}
			}
		}
		all = append(all, e)
	}
	return w.Code, all
}

// tell streams a story, and goes on with its answer where it asks.
func tell(t *testing.T, s http.Handler, story, framing string) []event {
	t.Helper()
	target := looopy.Path + framing
	_, all := ask(t, s, http.MethodPost, target, fmt.Sprintf(`{"message":%q,"contextId":"c-1"}`, story))
	if last := all[len(all)-1]; last.state() == "waiting-input" {
		_, more := ask(t, s, http.MethodPost, target, `{"contextId":"c-1","inputs":[{"inputId":"q1","value":"main"}]}`)
		all = append(all, more...)
	}
	return all
}

// held is what a client has at the end.
type held struct {
	Status, Cause             string
	Said                      string // all deltas
	Texts, Thoughts, Children []string
	Tools                     map[string]string
	Files                     map[string]string
	Questions                 []string
}

// project is what the events leave a client with. Its texts are what content-complete says, and a text without one.
func project(events []event) (h held) {
	h.Tools, h.Files = map[string]string{}, map[string]string{}
	open := ""
	for _, e := range events {
		text := func(name string) string {
			if e.data[name] == nil {
				return ""
			}
			return fmt.Sprint(e.data[name])
		}
		switch e.kind() {
		case "content-delta":
			open, h.Said = open+text("content"), h.Said+text("delta")
		case "content-complete":
			h.Texts, open = append(h.Texts, text("content")), ""
		case "thought-stream":
			h.Thoughts = append(h.Thoughts, text("thought"))
		case "tool-complete":
			h.Tools[text("toolName")+" "+text("toolCallId")] = cmp.Or(text("error"), text("result"))
		case "file-write":
			h.Files[text("artifactId")] = text("data")
		case "input-required":
			h.Questions = append(h.Questions, text("prompt"))
		case "subtask-created":
			h.Children = append(h.Children, text("agentId"))
		case "task-complete":
			h.Status = "completed"
		case "task-status":
			h.Status = e.state()
			if m, ok := e.data["metadata"].(map[string]any); ok && m["reason"] != nil {
				h.Cause = fmt.Sprint(m["reason"])
			}
		}
	}
	if open != "" {
		h.Texts = append(h.Texts, open)
	}
	return h
}

// wanted is the same of the log.
func wanted(story stories.Story) (h held) {
	state := story.State()
	h.Tools, h.Files = map[string]string{}, map[string]string{}
	h.Status = string(state.Status)
	if state.End != nil {
		h.Cause = string(state.End.Cause)
	}
	for _, s := range state.Streams {
		if strings.HasPrefix(s.Name, "answer") && !s.Thought {
			h.Texts = append(h.Texts, s.Text())
		} else if s.Thought {
			h.Thoughts = append(h.Thoughts, s.Text())
		}
	}
	for _, e := range story.Events {
		switch b := e.Body.(type) {
		case messages.ToolStarted:
			h.Tools[b.Tool+" "+b.Call] = "the call has no result"
		case messages.ToolCompleted:
			for name := range h.Tools {
				if strings.HasSuffix(name, " "+b.Call) && b.Error != nil {
					h.Tools[name] = b.Error.Message
				} else if strings.HasSuffix(name, " "+b.Call) {
					h.Tools[name] = strings.Trim(string(b.Result), `"`)
				}
			}
		case messages.InputRequired:
			h.Questions = append(h.Questions, b.Prompt)
		case messages.ChildStarted:
			h.Children = append(h.Children, b.Job)
		}
	}
	for _, a := range state.Artifacts {
		if !a.Partial {
			h.Files[a.Name] = "whole"
		}
	}
	return h
}

// Every story leaves a client with what its log says, in both framings.
func TestStories(t *testing.T) {
	for _, story := range stories.All() {
		for _, framing := range []string{"", "?framing=named"} {
			events := tell(t, open(&stories.Teller{}), story.Name, framing)
			got, want := project(events), wanted(story)
			if got.Said = ""; !reflect.DeepEqual(got, want) {
				t.Errorf("%s%s: the client has\n%+v, want\n%+v", story.Name, framing, got, want)
			}
			if events[0].kind() != "task-created" {
				t.Errorf("%s: the stream begins with %s", story.Name, events[0].kind())
			}
			last := events[len(events)-1]
			if last.kind() != "task-complete" && last.kind() != "task-status" {
				t.Errorf("%s: the stream ends with %s", story.Name, last.kind())
			}
		}
	}
}

// L2: by default data holds the whole event, for clients that read messages; named events leave out what is elsewhere.
func TestL2Framings(t *testing.T) {
	for _, named := range []bool{false, true} {
		target := looopy.Path
		if named {
			target += "?framing=named"
		}
		_, events := ask(t, open(&stories.Teller{}), http.MethodPost, target, `{"message":"tool error","contextId":"c-1"}`)
		for _, e := range events {
			_, object := e.data["status"].(map[string]any)
			if named != (e.name != "") || named == (e.data["kind"] != nil) || named == (e.data["contextId"] != nil) ||
				e.kind() == "task-status" && object == named || e.data["taskId"] == nil || e.data["timestamp"] == nil {
				t.Errorf("named %v: %+v", named, e)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	s := open(&stories.Teller{})
	for _, c := range []struct {
		method, target, body string
		want                 int
	}{
		{http.MethodGet, looopy.Path, "", 400},
		{http.MethodGet, looopy.Path + "?lastEventId=c-1-77", "", 400},
		{http.MethodGet, looopy.Path + "?contextId=nobody", "", 204},
		{http.MethodPost, looopy.Path, `{"message":"plain"}`, 400},
		{http.MethodPost, looopy.Path, `{"contextId":"c"}`, 400},
		{http.MethodPost, looopy.Path, `{"contextId":"c","inputs":[{"inputId":"q"}]}`, 404},
		{http.MethodPost, looopy.Path, `{`, 400},
		{http.MethodPut, looopy.Path, ``, 405},
		{http.MethodGet, "/api/sse/other", ``, 404},
	} {
		if code, _ := ask(t, s, c.method, c.target, c.body); code != c.want {
			t.Errorf("%s %s %s answers %d, want %d", c.method, c.target, c.body, code, c.want)
		}
	}
}

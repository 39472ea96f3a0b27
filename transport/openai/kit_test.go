package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/openai"
)

// serve serves the API of a runtime with two models.
func serve(t *testing.T, runs door.Runs) string {
	t.Helper()
	return serveWith(t, door.Config{Runs: runs, Models: models, Jobs: []messages.JobInfo{
		{Name: "generate"}, {Name: "chat", JobSpec: messages.JobSpec{PromptField: "message", Input: ofChat}}, {Name: "prompt", JobSpec: messages.JobSpec{PromptField: "prompt"}}}})
}

// ofChat is the schema of a job that takes no tools.
func ofChat() json.RawMessage {
	return json.RawMessage(`{"properties":{"message":{},"earlier":{},"system":{},"max_tokens":{},"stop":{},"temperature":{}}}`)
}

// models are the models of a server that has one.
func models(context.Context, string) ([]string, error) { return []string{"org/qwen"}, nil }

func serveWith(t *testing.T, c door.Config) string {
	t.Helper()
	return testkit.ServeURL(t, doors(c))
}

func doors(c door.Config) http.Handler {
	mux, to := http.NewServeMux(), door.New(c)
	openai.Add(to, func(h *door.Handler, paths ...string) {
		for _, path := range paths {
			mux.Handle(path, h)
		}
		if paths[0] == "/v1/models" {
			mux.Handle("/", h) // what the API has, and lastword has not
		}
	})
	return mux
}

// post returns the status, the body, and why it could not be read to its end.
func post(t *testing.T, url, body string, header ...string) (int, string, error) {
	t.Helper()
	return testkit.ReadURL(t, http.MethodPost, url, body, header...)
}

func get(t *testing.T, url string) (int, string, error) {
	t.Helper()
	return testkit.ReadURL(t, http.MethodGet, url, "")
}

// event is a frame of a response's stream.
type event struct {
	Type   string
	Number uint64 `json:"sequence_number"`
	Item   string `json:"item_id"`
	Delta  string
	Code   string
	raw    string
}

func events(t *testing.T, stream string) (all []event) {
	t.Helper()
	for frame := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		_, data, ok := strings.Cut(frame, "\ndata: ")
		e := event{raw: frame}
		if err := json.Unmarshal([]byte(data), &e); err != nil || !ok || !strings.HasPrefix(frame, "event: "+e.Type+"\n") {
			t.Fatalf("%q is no event: %v", frame, err)
		}
		all = append(all, e)
	}
	return all
}

// object is what the tests look at of a response.
type object struct {
	ID, Status string
	Previous   string `json:"previous_response_id"`
	Output     []struct {
		ID, Type, Status, Name, Namespace, Arguments, Input string
		CallID                                              string `json:"call_id"`
		Content                                             []struct{ Text string }
	}
	Error *struct{ Code, Message string }
}

func (o object) text() (text string) {
	for _, item := range o.Output {
		for _, part := range item.Content {
			text += part.Text
		}
	}
	return text
}

func decode[T any](t *testing.T, body string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	return v
}

// cut notes the cancels of a runtime whose events stop.
type cut struct {
	stories.CutTeller
	canceled chan messages.RunID
}

func (c *cut) Cancel(ctx context.Context, id messages.RunID, by, reason string) error {
	c.canceled <- id
	return c.CutTeller.Cancel(ctx, id, by, reason)
}

var errGone = errors.New("the journal is gone")

// merging is a runtime whose logs are merged as far as they can be.
type merging struct{ *stories.Teller }

func (m merging) Follow(ctx context.Context, id messages.RunID, f messages.FollowOptions) iter.Seq2[[]messages.Event, error] {
	return func(yield func([]messages.Event, error) bool) {
		var all []messages.Event
		for batch, err := range m.Teller.Follow(ctx, id, f) {
			if err != nil {
				yield(nil, err)
				return
			}
			all = append(all, batch...)
		}
		yield(messages.MergeDeltas(all), nil)
	}
}

var must = fatal.IfError

package looopy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/looopy/internal/credential"
)

// Path is the path that this package serves.
const Path = "/api/sse/message"

// server serves the two methods. It holds no state of a conversation: the cursor in each id does.
type server struct {
	*door.Door
	keys credential.Keys
}

// New returns the handler for Path.
func New(d *door.Door) *door.Handler {
	s := server{d, credential.Keys(d.Sealing)}
	return door.Routes(map[string]func(http.ResponseWriter, *http.Request) error{
		"GET " + Path:  s.get,
		"POST " + Path: s.post,
	}, auth.Refuse)
}

// post is the body of a POST: a message, or answers.
type post struct {
	Message, ContextID, TaskID string
	// Busy is as in POST /v1/runs.
	Busy                messages.Busy `json:"lastword.busy"`
	Inputs, Credentials []struct {
		InputID, AuthID   string
		Value, Credential json.RawMessage
	}
}

// post starts a turn or answers questions, and streams what follows.
func (s server) post(w http.ResponseWriter, r *http.Request) error {
	var p post
	if err := door.ReadJSON(r, &p); err != nil {
		return err
	}
	answers := len(p.Inputs) + len(p.Credentials)
	if (p.Message == "") == (answers == 0) || answers > 40 {
		return messages.Errorf(auth.CodeBadRequest, "the body needs a message, or up to 40 inputs and credentials")
	}
	_, _, err := parseID("", p.ContextID)
	if err = cmp.Or(err, auth.Require(r.Context(), auth.ReadRuns)); err != nil {
		return err
	}
	if answers > 0 {
		return s.resume(w, r, p)
	}
	q := s.Message(p.Message, p.ContextID)
	q.Busy = p.Busy
	id, err := s.Start(r.Context(), q)
	if err != nil {
		return err
	}
	s.stream(w, r, []messages.Summary{{RunID: id}}, writer{context: p.ContextID})
	return nil
}

// resume answers a turn's questions, and streams what follows them.
func (s server) resume(w http.ResponseWriter, r *http.Request, p post) error {
	turns, err := s.turns(r.Context(), p.ContextID, p.TaskID, cursor{})
	if err != nil {
		return err
	}
	if len(turns) == 0 {
		return messages.Errorf(messages.CodeNotFound, "the conversation %.100q has no such turn", p.ContextID)
	}
	turn := turns[len(turns)-1]
	resumed := map[string]bool{}
	for _, in := range append(p.Inputs, p.Credentials...) {
		id := cmp.Or(in.InputID, in.AuthID)
		run, request := turn.RunID, id
		if child, name, ok := strings.Cut(id, "/"); ok && within(child, turn.RunID) {
			run, request = messages.RunID(child), name
		}
		value := in.Value
		if in.AuthID != "" {
			value, err = s.keys.Open(id, p.ContextID, in.Credential)
		}
		if err == nil {
			err = s.Answer(r.Context(), door.Client, run, request, value)
		}
		if err != nil {
			return err
		}
		resumed[id] = true
	}
	s.stream(w, r, []messages.Summary{turn}, writer{context: p.ContextID, resumed: resumed})
	return nil
}

// within reports whether the task is the run or one of its sub-runs.
func within(task string, run messages.RunID) bool {
	return task == string(run) || strings.HasPrefix(task, string(run)+".")
}

// turns returns the caller's turns in the context that may have events after the cursor, the oldest first. task limits
// them to one turn.
func (s server) turns(ctx context.Context, context, task string, after cursor) ([]messages.Summary, error) {
	all, err := s.Turns(ctx, context, 100) // the newest 100
	slices.Reverse(all)
	return stable.DeleteFunc(all, func(one messages.Summary) bool {
		at, over := one.QueuedAt.UnixMicro(), after.I == last && one.Status.IsEnded() && one.Seq <= after.Seq
		return task != "" && !within(task, one.RunID) || at < after.turn || at == after.turn && over
	}), err
}

// get streams what the client has missed of a conversation or of one task.
func (s server) get(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	id := cmp.Or(r.Header.Get("Last-Event-ID"), query.Get("lastEventId"))
	context, after, err := parseID(id, query.Get("contextId"))
	if err != nil {
		return err
	}
	task := strings.TrimSuffix(query.Get("taskId"), "/**") // a task is always followed with its sub-runs
	turns, err := s.turns(r.Context(), context, task, after)
	if err != nil {
		return err
	}
	if len(turns) == 0 {
		w.WriteHeader(http.StatusNoContent) // nothing will follow, and 204 makes a browser's EventSource stop
		return nil
	}
	s.stream(w, r, turns, writer{context: context, after: after, task: messages.RunID(task)})
	return nil
}

// stream writes the turns one after the other, until one waits for an answer.
func (s server) stream(w http.ResponseWriter, r *http.Request, turns []messages.Summary, t writer) {
	w.Header().Set("Connection", "keep-alive")
	t.Out = s.Stream(w, "text/event-stream")
	t.server, t.ctx, t.named = s, r.Context(), r.URL.Query().Get("framing") == "named"
	for i := 0; i < len(turns) && !t.Over; i++ {
		run, err := s.Run(t.ctx, turns[i].RunID)
		if err != nil {
			t.Out.Break()
		}
		t.SegmentWriter.Run, t.run, t.places, t.lengths = run.RunID, run, door.Places{}, map[messages.RunID]int{}
		t.index, t.sent = map[string]int{}, map[string]string{}
		if door.Play(t.ctx, s.Door, t.Out, messages.FollowOptions{Tree: true}, &table, &t) != nil {
			t.Out.Break()
		}
	}
}

// cursor is the position of an event in its context. The length of the answer, up to and including the event, is
// compared before Place.I, because merging deltas changes I.
type cursor struct {
	turn int64 // when its turn was queued, in microseconds
	door.Place
	length int
}

// past reports whether c comes after the cursor o.
func (c cursor) past(o cursor) bool {
	return cmp.Or(cmp.Compare(c.turn, o.turn), cmp.Compare(c.Seq, o.Seq), cmp.Compare(c.Sub, o.Sub),
		cmp.Compare(c.length, o.length), cmp.Compare(c.I, o.I)) > 0
}

// last is the I of the last event of a turn.
const last = 99

func (c cursor) id(context string) string {
	return fmt.Sprintf("%s-%016d%011d%011d%08d%02d", context, c.turn, c.Seq, c.Sub, c.length, min(c.I, last))
}

// parseID parses the id of an event; "" is the beginning. If context is not "", the event must belong to it. Errors:
// bad_request.
func parseID(id, context string) (of string, c cursor, err error) {
	if id != "" {
		pos := strings.LastIndexByte(id, '-')
		_, err = fmt.Sscanf(id[pos+1:], "%16d%11d%11d%8d%2d", &c.turn, &c.Seq, &c.Sub, &c.length, &c.I)
		if err != nil || pos < 0 || c.id(id[:pos]) != id || context != "" && context != id[:pos] {
			return "", c, messages.Errorf(auth.CodeBadRequest, "no event of the contextId had the last event id %.100q", id)
		}
		context = id[:pos]
	}
	if context == "" || len(context) > 256 || strings.ContainsFunc(context, unicode.IsControl) {
		return "", c, messages.Errorf(auth.CodeBadRequest, "a conversation's contextId has 1 to 256 printable bytes")
	}
	return context, c, nil
}

package looopy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/dialect"
	"github.com/seed889630bf/lastword/transport/gate"
	"github.com/seed889630bf/lastword/transport/view"
)

// Path is where the door answers.
const Path = "/api/sse/message"

// maxTurns is how many turns of a context a GET looks at, the newest.
const maxTurns = 100

// Server is the door. It is safe for concurrent use.
type Server struct{ door *dialect.Door }

// New returns the door.
func New(c dialect.Config) *Server { return &Server{dialect.NewDoor(c)} }

// ServeHTTP begins, answers and reads turns.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var err error
	switch {
	case r.URL.Path != Path:
		err = messages.Errorf(messages.CodeNotFound, "there is nothing at %.100q; use %s", r.URL.Path, Path)
	case r.Method == http.MethodPost:
		err = s.post(w, r)
	case r.Method == http.MethodGet:
		err = s.get(w, r)
	default:
		w.Header().Set("Allow", "GET, POST")
		err = messages.Errorf(gate.CodeNotAllowed, "%s takes GET and POST", Path)
	}
	if err != nil {
		gate.Refuse(w, err)
	}
}

// post is the body of a POST: a message, or answers.
type post struct {
	Message   string         `json:"message"`
	ContextID string         `json:"contextId"`
	TaskID    messages.RunID `json:"taskId"`
	Inputs    []struct {
		InputID string          `json:"inputId"`
		Value   json.RawMessage `json:"value"`
	} `json:"inputs"`
	Credentials []struct {
		AuthID     string `json:"authId"`
		Credential string `json:"credential"`
	} `json:"credentials"`
}

func (s *Server) post(w http.ResponseWriter, r *http.Request) error {
	body, err := dialect.Read(r)
	if err != nil {
		return err
	}
	var p post
	if err := json.Unmarshal(body, &p); err != nil {
		return messages.Errorf(gate.CodeBadRequest, "the body is not JSON of a message: %v", err)
	}
	answers := len(p.Inputs) + len(p.Credentials)
	switch {
	case p.ContextID == "" || len(p.ContextID) > 256:
		return messages.Errorf(gate.CodeBadRequest, "the body needs a contextId, the name of the conversation")
	case (p.Message == "") == (answers == 0) || answers > 40:
		return messages.Errorf(gate.CodeBadRequest, "the body needs a message, or up to 40 inputs and credentials")
	case answers > 0:
		return s.resume(w, r, p)
	}
	id, err := s.door.Start(r.Context(), s.door.Message(p.Message, p.ContextID))
	if err != nil {
		return err
	}
	return s.stream(w, r, p.ContextID, []messages.Summary{{RunID: id}}, cursor{})
}

// resume answers what a turn asked, and streams what follows.
func (s *Server) resume(w http.ResponseWriter, r *http.Request, p post) error {
	turns, err := s.turns(r, p.ContextID, string(p.TaskID))
	if err != nil {
		return err
	}
	if len(turns) == 0 {
		return messages.Errorf(messages.CodeNotFound, "the conversation %.100q has no such turn", p.ContextID)
	}
	turn := turns[len(turns)-1]
	before, err := s.door.Run(r.Context(), turn.RunID)
	if err != nil {
		return err
	}
	for _, in := range p.Inputs {
		if err := s.door.Answer(r.Context(), turn.RunID, in.InputID, in.Value); err != nil {
			return err
		}
	}
	for _, in := range p.Credentials {
		if err := s.door.Answer(r.Context(), turn.RunID, in.AuthID, dialect.JSON(in.Credential)); err != nil {
			return err
		}
	}
	had := cursor{at: before.QueuedAt.UnixMicro(), seq: before.Seq, i: math.MaxInt}
	for _, text := range before.Streams {
		if (&view.Item{Kind: view.Text, Name: text.Name}).IsAnswer() && !text.Thought {
			had.length = text.Len()
		}
	}
	return s.stream(w, r, p.ContextID, []messages.Summary{turn}, had)
}

// turns are the caller's turns of the context, the oldest first, or the one of the task.
func (s *Server) turns(r *http.Request, context, task string) ([]messages.Summary, error) {
	all, err := s.door.Turns(r.Context(), context, maxTurns)
	if err != nil {
		return nil, err
	}
	slices.Reverse(all)
	other := func(one messages.Summary) bool { return task != "" && string(one.RunID) != task }
	return slices.DeleteFunc(all, other), nil
}

func (s *Server) get(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	context, after, err := parseID(cmp.Or(r.Header.Get("Last-Event-ID"), query.Get("lastEventId")))
	if err != nil {
		return err
	}
	if context = cmp.Or(query.Get("contextId"), context); context == "" {
		return messages.Errorf(gate.CodeBadRequest, "name the conversation with contextId or Last-Event-ID")
	}
	turns, err := s.turns(r, context, query.Get("taskId"))
	if err != nil {
		return err
	}
	turns = slices.DeleteFunc(turns, func(one messages.Summary) bool {
		return one.QueuedAt.UnixMicro() < after.at ||
			one.QueuedAt.UnixMicro() == after.at && one.Status.IsEnded() && one.Seq <= after.seq && after.i == last
	})
	if len(turns) == 0 {
		w.WriteHeader(http.StatusNoContent) // nothing will come; a browser's EventSource stops asking
		return nil
	}
	return s.stream(w, r, context, turns, after)
}

// stream writes the turns, one after the other, until one waits for people. An error is one before the first.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, context string, turns []messages.Summary,
	after cursor) error {
	var out *dialect.Stream
	for _, turn := range turns {
		state, err := s.door.Run(r.Context(), turn.RunID)
		switch {
		case err != nil && out == nil:
			return err
		case err != nil:
			out.Break()
		case out == nil:
			w.Header().Set("Connection", "keep-alive")
			out = s.door.Stream(w, "text/event-stream")
		}
		t := &writer{out: out, server: s, ctx: r.Context(), context: context, after: after, state: state,
			named: r.URL.Query().Get("framing") == "named", turn: state.QueuedAt.UnixMicro(),
			sent: map[string]string{}, waits: map[string]bool{}}
		for _, in := range state.Inputs {
			t.waits[in.Request] = !in.Closed
		}
		stop := func(*view.Transcript) bool { return t.waiting }
		if dialect.Play(r.Context(), out, turn.RunID, messages.Follow{Tree: true}, &table, t, stop) != nil {
			out.Break()
		}
		if t.waiting {
			break
		}
	}
	return nil
}

// cursor is where an event stands in its context.
type cursor struct {
	at     int64  // when its turn was queued, in microseconds
	seq    uint64 // of the run's event
	i      int    // which of that event's
	length int    // of the answer, after it
}

// past reports whether an event of the turn, with the number seq, comes after the cursor.
func (c cursor) past(at int64, seq uint64, i int) bool {
	return cmp.Or(cmp.Compare(at, c.at), cmp.Compare(seq, c.seq), cmp.Compare(i, c.i)) > 0
}

// The numbers of an id's N, in digits: seq, i and length follow the time.
const (
	seqDigits, iDigits, lengthDigits = 13, 2, 8
	tail                             = seqDigits + iDigits + lengthDigits
)

// last is the i of the last event of a turn.
const last = 99

func (c cursor) id(context string) string {
	return fmt.Sprintf("%s-%d%0*d%0*d%0*d", context, c.at, seqDigits, c.seq, iDigits, min(c.i, last), lengthDigits,
		c.length)
}

// parseID reads an event's id; "" is the beginning. Errors: bad_request.
func parseID(id string) (context string, c cursor, err error) {
	if id == "" {
		return "", c, nil
	}
	at := strings.LastIndexByte(id, '-')
	n := len(id) - tail
	wrong := messages.Errorf(gate.CodeBadRequest, "the last event id %.100q is not one that an event had", id)
	if at < 0 || n <= at+1 {
		return "", c, wrong
	}
	c.at, err = strconv.ParseInt(id[at+1:n], 10, 64)
	next := func(digits int) uint64 {
		v, wrong := strconv.ParseUint(id[n:n+digits], 10, 63)
		n, err = n+digits, cmp.Or(err, wrong)
		return v
	}
	c.seq, c.i, c.length = next(seqDigits), int(next(iDigits)), int(next(lengthDigits))
	if err != nil || c.at < 0 {
		return "", c, wrong
	}
	return id[:at], c, nil
}

// clock is the time as Looopy writes it.
func clock(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

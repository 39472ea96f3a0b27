package http

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

type eventsInput struct {
	ID       messages.RunID  `path:"id" maxLength:"200" doc:"The run's id" example:"r_k66hldz6ofnwat4rgzpadp2myg"`
	After    string          `query:"after" doc:"The cursor: the id of the last event, next of the last page, or the number of an event" example:"42"`
	Last     string          `header:"Last-Event-ID" doc:"The cursor, as browsers send it; it goes before after"`
	LastID   string          `query:"last_event_id" doc:"The same, for clients that cannot set header fields"`
	Kinds    []messages.Kind `query:"kinds" doc:"Only events of these kinds; the terminal always comes"`
	Streams  []string        `query:"streams" doc:"Only these texts and thoughts"`
	Level    string          `query:"level" enum:"milestone,delta" default:"delta" doc:"milestone leaves out deltas"`
	Rate     float64         `query:"rate" minimum:"0" maximum:"1000" doc:"Most deltas a second; faster ones are merged"`
	Wait     waitTime        `query:"wait" doc:"Longest to wait for an event, of a long poll: 5s or a number of seconds, up to 5 minutes"`
	Tree     bool            `query:"tree" doc:"The events of sub-runs come as well"`
	Snapshot bool            `query:"snapshot" doc:"A stream begins with the State; the events are those after it"`
	Accept   string          `header:"Accept" doc:"text/event-stream, application/x-ndjson, or application/json for a long poll"`
}

// follow returns what the request asks of the run's log.
func (in *eventsInput) follow(id messages.RunID) (messages.Follow, error) {
	cursor := in.After
	for _, given := range []string{in.LastID, in.Last} {
		if given != "" {
			cursor = given
		}
	}
	f := messages.Follow{Rate: in.Rate, Tree: in.Tree,
		Filter: messages.Filter{MilestonesOnly: in.Level == "milestone", Kinds: in.Kinds, Streams: in.Streams}}
	for _, kind := range in.Kinds {
		if !kind.Known() {
			return f, messages.InvalidInput("there is no kind %.100q; docs/wire.md lists them", kind)
		}
	}
	at, err := messages.ParseCursors(id, cursor)
	f.After, f.Cursors = at[id].Seq, at
	return f, err
}

// form is how events are written.
type form uint8

const (
	formJSON form = iota
	formSSE
	formNDJSON
)

// formOf returns the form that an Accept field asks for: the first that this API has.
func formOf(accept string) form {
	for one := range strings.SplitSeq(accept, ",") {
		kind, _, _ := strings.Cut(one, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "text/event-stream":
			return formSSE
		case "application/x-ndjson", "application/jsonl":
			return formNDJSON
		case "application/json", "*/*":
			return formJSON
		}
	}
	return formJSON
}

func (s *Server) getEvents(w http.ResponseWriter, r *http.Request, in *eventsInput) {
	follow, err := in.follow(in.ID)
	if err != nil {
		auth.Refuse(w, err)
		return
	}
	head, ended, err := s.servable(r.Context(), in.ID, follow.After)
	if err != nil {
		auth.Refuse(w, err)
		return
	}
	form, h := formOf(in.Accept), w.Header()
	if ended {
		h.Set("ETag", etagOf(head))
	}
	switch {
	case ended && matches(r.Header.Get("If-None-Match"), etagOf(head)):
		w.WriteHeader(http.StatusNotModified)
	case r.Method == http.MethodHead:
		h.Set("Content-Type", form.mediaType())
	case ended && form != formJSON && follow.After == head:
		w.WriteHeader(http.StatusNoContent) // nothing will come; a browser's EventSource stops asking
	case form == formJSON:
		s.poll(w, r, in.ID, follow, in.Wait.Duration, ended && follow.After == head)
	default:
		if in.Snapshot {
			follow.Snapshot = func(messages.State) {}
		}
		s.stream(w, r, in.ID, form, follow)
	}
}

// servable returns the number of the run's last event, and whether that is its terminal. Errors: reset where the log
// cannot have the cursor. It is not inlined: a stream's stack keeps no room for the State.
//
//go:noinline
func (s *Server) servable(ctx context.Context, id messages.RunID, after uint64) (head uint64, ended bool, err error) {
	head, ended, err = s.head(ctx, id)
	if err == nil && (ended && after > head || after > head+messages.Reserve) {
		err = messages.Errorf(messages.CodeReset, "run %s has no event %d; drop the State and begin at 0", id, after)
	}
	return head, ended, err
}

// head asks the list first: the State of a run that is not active takes reading its whole log.
func (s *Server) head(ctx context.Context, id messages.RunID) (seq uint64, ended bool, err error) {
	list, err := s.config.Runs.List(ctx, messages.Query{Principal: auth.From(ctx).Name, Runs: []messages.RunID{id}, Limit: 1})
	if err == nil && len(list) == 1 && list[0].Status.IsEnded() {
		return list[0].Seq, true, nil
	}
	state, err := s.run(ctx, id)
	return state.Seq, state.Status.IsEnded(), err
}

func (f form) mediaType() string {
	switch f {
	case formSSE:
		return "text/event-stream"
	case formNDJSON:
		return "application/x-ndjson"
	default:
		return "application/json"
	}
}

// page is what a long poll answers.
type page struct {
	Events []eventJSON `json:"events" doc:"Events after the cursor, in order"`
	Next   cursorText  `json:"next" doc:"The cursor of the next request"`
	Ended  bool        `json:"ended" doc:"The run has ended and the reader has its terminal: nothing more comes"`
}

// cursorText is a cursor as JSON has it: a number, or with tree a string.
type cursorText string

// MarshalJSON writes a number where it is one.
func (c cursorText) MarshalJSON() ([]byte, error) {
	if _, err := strconv.ParseUint(string(c), 10, 64); err == nil {
		return []byte(c), nil
	}
	return json.Marshal(string(c))
}

// Schema describes the cursor.
func (cursorText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeInteger}, {Type: huma.TypeString}}}
}

const (
	// pageEvents and pageBytes are the most that a long poll answers.
	pageEvents = 1000
	pageBytes  = 1 << 20
)

// poll answers with the events that there are. Where there are none, it waits for the first. ended says that the caller
// has the terminal.
func (s *Server) poll(w http.ResponseWriter, r *http.Request, id messages.RunID, follow messages.Follow, wait time.Duration,
	ended bool) {
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	at, p := follow.At(id), page{Events: []eventJSON{}, Ended: ended}
	size := 0
	for batch, err := range s.config.Runs.Follow(ctx, id, follow) {
		if err != nil && ctx.Err() == nil {
			auth.Refuse(w, err)
			return
		}
		for _, e := range batch {
			if size >= pageBytes || len(p.Events) == pageEvents {
				break
			}
			e, some := at.Take(e)
			if !some || e.Body == nil {
				continue
			}
			line, err := e.JSON()
			if err != nil {
				auth.Refuse(w, err)
				return
			}
			p.Events = append(p.Events, line)
			size += len(line)
			p.Ended = p.Ended || e.RunID == id && e.IsTerminal()
		}
		if size >= pageBytes || len(p.Events) == pageEvents {
			break
		}
		cancel() // the rest of what there is comes all the same
	}
	p.Next = cursorText(at.Text(id))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = s.write(w, p) // a client that left misses nothing
}

// attachRun keeps an attached run going while its caller reads.
func (s *Server) attachRun(w http.ResponseWriter, r *http.Request, in *eventsInput) {
	if _, err := s.run(r.Context(), in.ID); err != nil {
		auth.Refuse(w, err)
		return
	}
	if err := s.config.Runs.Attach(r.Context(), in.ID); err != nil {
		auth.Refuse(w, err)
		return
	}
	if formOf(in.Accept) == formJSON {
		in.Accept = formSSE.mediaType()
	}
	s.getEvents(w, r, in)
}

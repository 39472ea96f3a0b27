package http

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
)

// eventsInput holds the parameters of the event routes.
type eventsInput struct {
	ID       messages.RunID  `path:"id" maxLength:"200" doc:"The run's id" example:"r_k66hldz6ofnwat4rgzpadp2myg"`
	After    string          `query:"after" doc:"The cursor: the id of the last event, next of the last page, or the number of an event" example:"42"`
	Last     string          `header:"Last-Event-ID" doc:"The cursor, as browsers send it; it overrides after"`
	LastID   string          `query:"last_event_id" doc:"The same, for clients that cannot set header fields"`
	Kinds    []messages.Kind `query:"kinds" doc:"Only events of these kinds; the terminal always comes"`
	Streams  []string        `query:"streams" doc:"Only these texts and thoughts"`
	Level    string          `query:"level" enum:"milestone,delta" default:"delta" doc:"milestone leaves out deltas"`
	Rate     float64         `query:"rate" minimum:"0" maximum:"1000" doc:"Most deltas a second; faster ones are merged"`
	Wait     waitTime        `query:"wait" doc:"Longest to wait for an event, of a long poll: 5s or a number of seconds, up to 5 minutes"`
	Tree     bool            `query:"tree" doc:"The events of sub-runs come as well"`
	Snapshot bool            `query:"snapshot" doc:"A stream begins with the State; the events are those after it"`
	Done     string          `query:"done" enum:"digest" doc:"With digest, later events do not repeat a text over 32 KiB that the reader has from deltas"`
	Accept   string          `header:"Accept" doc:"text/event-stream, application/x-ndjson, or application/json for a long poll"`
}

// follow returns the Follow options that the request asks for, and the reader's position.
func (in *eventsInput) follow(id messages.RunID) (f messages.FollowOptions, cur cursor.Cursors, err error) {
	f = messages.FollowOptions{Rate: in.Rate, Tree: in.Tree,
		Filter: messages.Filter{MilestonesOnly: in.Level == "milestone", Kinds: in.Kinds, Streams: in.Streams}}
	for _, kind := range in.Kinds {
		if !kind.Known() {
			return f, nil, messages.InvalidInput("there is no kind %.100q; docs/wire.md lists them", kind)
		}
	}
	if cur, err = cursor.Parse(id, cmp.Or(in.Last, in.LastID, in.After)); err == nil {
		cur.Resume(&f, id)
	}
	return f, cur, err
}

// form is a media type in which events are written.
type form string

const (
	formJSON   form = "application/json"
	formSSE    form = "text/event-stream"
	formNDJSON form = "application/x-ndjson"
)

// formOf returns the first form that the Accept field asks for and this API has. Errors: not_acceptable.
func formOf(accept string) (form, error) {
	requested, err := door.Accepts(accept, string(formJSON), string(formSSE), string(formNDJSON), "application/jsonl",
		"application/problem+json")
	switch requested {
	case "application/jsonl":
		return formNDJSON, err
	case string(formSSE), string(formNDJSON):
		return form(requested), err
	}
	return formJSON, err
}

// getEvents answers with a stream or with a page. The events of a run that has ended never change, so they have an
// ETag.
func (s *Server) getEvents(w http.ResponseWriter, r *http.Request, in *eventsInput) error {
	follow, cur, err := in.follow(in.ID)
	if err != nil {
		return err
	}
	form, err := formOf(in.Accept)
	if err != nil {
		return err
	}
	head, ended, err := s.Head(r.Context(), in.ID, follow.After)
	if err != nil {
		return err
	}
	h := w.Header()
	if ended {
		h.Set("ETag", etagOf(head))
	}
	switch {
	case ended && matches(r.Header.Get("If-None-Match"), etagOf(head)):
		w.WriteHeader(http.StatusNotModified)
	case r.Method == http.MethodHead:
		h.Set("Content-Type", string(form))
	case ended && form != formJSON && follow.After == head:
		w.WriteHeader(http.StatusNoContent) // nothing will follow, and 204 makes a browser's EventSource stop
	case form == formJSON:
		return s.poll(w, r, in.ID, follow, s.feed(r.Context(), cur, in.Done != ""), in.Wait.Duration, ended && follow.After == head)
	default:
		if in.Snapshot {
			follow.Snapshot = func(messages.State) {}
		}
		s.stream(w, r, in.ID, form, follow, s.feed(r.Context(), cur, in.Done != ""))
	}
	return nil
}

// page is the response of a long poll.
type page struct {
	Events []eventJSON `json:"events" doc:"The events after the cursor, in order"`
	Next   cursorText  `json:"next" doc:"The cursor of the next request"`
	Ended  bool        `json:"ended" doc:"The run has ended and the reader has its terminal: nothing more comes"`
}

// cursorText is a cursor as JSON: a number, or a string if sub-runs are followed.
type cursorText string

// MarshalJSON writes a plain cursor as a number.
func (c cursorText) MarshalJSON() ([]byte, error) {
	if _, err := strconv.ParseUint(string(c), 10, 64); err == nil {
		return []byte(c), nil
	}
	return json.Marshal(string(c))
}

// Schema returns the JSON Schema of a cursor.
func (cursorText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeInteger}, {Type: huma.TypeString}}}
}

const (
	// pageEvents and pageBytes are the maximum size of a long poll's response.
	pageEvents = 1000
	pageBytes  = 1 << 20
)

// poll answers with the events that exist. If there are none, it waits for the first. ended says that the caller has
// the terminal already.
func (s *Server) poll(w http.ResponseWriter, r *http.Request, id messages.RunID, follow messages.FollowOptions, feed *cursor.Feed,
	wait time.Duration, ended bool) error {
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	p := page{Events: []eventJSON{}, Ended: ended}
	size := 0
	for batch, err := range s.Runs.Follow(ctx, id, follow) {
		if err != nil && ctx.Err() == nil {
			return err
		}
		for _, e := range batch {
			if size >= pageBytes || len(p.Events) == pageEvents {
				break
			}
			for piece := range feed.Events(e) {
				if piece.Body == nil {
					continue
				}
				line, err := piece.JSON()
				if err != nil {
					return err
				}
				p.Events = append(p.Events, line)
				size += len(line)
			}
			p.Ended = p.Ended || e.RunID == id && e.IsTerminal()
		}
		if size >= pageBytes || len(p.Events) == pageEvents {
			break
		}
		cancel() // Follow still returns the events that exist
	}
	p.Next = cursorText(feed.At.Text(id))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = s.write(w, p) // a client that left needs no answer
	return nil
}

// attachRun keeps an attached run alive while its caller reads events.
func (s *Server) attachRun(w http.ResponseWriter, r *http.Request, in *eventsInput) error {
	form, err := formOf(in.Accept)
	if err == nil {
		err = s.Attach(r.Context(), in.ID)
	}
	if err != nil {
		return err
	}
	if form == formJSON {
		in.Accept = string(formSSE)
	}
	return s.getEvents(w, r, in)
}

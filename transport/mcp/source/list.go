package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

const (
	listAge         = time.Minute // age after which a list is requested again, and up to which it stands in for a server that is down
	mostTools       = 500         // tools of a server that a model is told of, and pages of a list; further ones are left out
	mostList        = 16 << 20    // bytes of a list; further pages are left out
	mostIdle        = 10          // pages in a row that bring nothing new
	mostDescription = 4 << 10     // maximum length of a tool's description in bytes
	mostSchema      = 64 << 10    // size of a tool's schema in bytes
)

// Lists describes each method that lists something: List is the member of its result that holds the list, Name the
// member that names an entry, and Changed the notification that the list has changed.
var Lists = map[string]struct{ List, Name, Changed string }{
	"tools/list":               {"tools", "name", mcp.MethodNotificationToolsListChanged},
	"prompts/list":             {"prompts", "name", mcp.MethodNotificationPromptsListChanged},
	"resources/list":           {"resources", "uri", mcp.MethodNotificationResourcesListChanged},
	"resources/templates/list": {"resourceTemplates", "uriTemplate", mcp.MethodNotificationResourcesListChanged},
}

// List is a list of a server, such as its tools, as it was at one time. It never changes: where nothing is new, the same one is returned again.
type List struct {
	// Entries are unparsed, in the server's order. Names are their names, or URIs.
	Entries []json.RawMessage
	Names   []string
	TTL     int64 // for how many milliseconds it holds
}

func (l *List) add(name string, entry json.RawMessage) {
	l.Names, l.Entries = append(l.Names, name), append(l.Entries, entry)
}

// entries are a list as of a time, and what of it is offered.
type entries struct {
	all, offered *List
	tools        map[string]definition // made by definitions
	left         error                 // says what is left out; nil if nothing
	at           time.Time
	conn         *connection // nil if the list may have changed since
}

// listing is a request for a list. When done is closed, now, err or both are set: after an error an earlier list may stand in.
type listing struct {
	since  time.Time
	done   chan struct{}
	now    *List
	err    error
	missed bool // somebody has not waited for it; s.listing guards it
	again  bool // the last request failed
}

// List returns a list of a server. method is one of Lists. A server that does not have the method has no entries.
func (g *Gateway) List(ctx context.Context, server string, c Caller, method string) (*List, error) {
	s, err := g.line(server, c)
	if err != nil {
		return nil, err
	}
	l := s.request(method)
	select {
	case <-l.done:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if l.now != nil {
		return l.now, nil
	}
	return nil, l.err
}

// ListPatience is how long lists usually wait for servers that are late, and at most for those that have just failed.
const ListPatience = 2 * time.Second

// Lists returns a list of each server, in their order. Once the requests are older than patience, it does not wait for further
// servers if least of them have listed. For a late server its last list stands in, and Changed tells of the new one. A
// server without a list has nil.
func (g *Gateway) Lists(ctx context.Context, c Caller, method string, patience time.Duration, least int) []*List {
	all, lines, requests := make([]*List, len(g.servers)), make([]*server, len(g.servers)), make([]*listing, len(g.servers))
	came := make(chan struct{}, len(g.servers))
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	for i, one := range g.servers {
		s, err := g.line(one.Name, c)
		if err != nil {
			return all // the servers have ended
		}
		l := s.request(method)
		lines[i], requests[i] = s, l
		go func() {
			select {
			case <-l.done:
				came <- struct{}{}
			case <-ctx.Done():
			}
		}()
	}
	for ctx.Err() == nil {
		open, listed, wait := 0, 0, time.Duration(0)
		for _, l := range requests {
			select {
			case <-l.done:
				if l.now != nil {
					listed++
				}
			default:
				open++
				most := patience
				if l.again {
					most = min(most, ListPatience)
				}
				wait = max(wait, most-time.Since(l.since))
			}
		}
		if open == 0 || wait == 0 && listed >= least {
			break
		}
		var late <-chan time.Time
		if wait > 0 {
			late = time.After(wait)
		}
		select {
		case <-came:
		case <-late:
		case <-ctx.Done():
		}
	}
	for i, s := range lines {
		all[i] = s.sofar(method, requests[i])
	}
	return all
}

// sofar returns the list that was requested or, if it is late, the last one.
func (s *server) sofar(method string, l *listing) *List {
	s.listing.Lock()
	defer s.listing.Unlock()
	select {
	case <-l.done:
		return l.now
	default:
	}
	l.missed = true
	if last := s.lists[method]; last != nil {
		late := *s.offer(method, last)
		late.TTL = 0
		return &late
	}
	return nil
}

// request requests a list, unless a request is under way or the list is known.
func (s *server) request(method string) *listing {
	s.listing.Lock()
	defer s.listing.Unlock()
	if l := s.requests[method]; l != nil {
		return l
	}
	l := &listing{since: time.Now(), done: make(chan struct{}), again: s.unlisted}
	for _, other := range s.requests { // it waits for the same start
		if other.since.Before(l.since) {
			l.since = other.since
		}
	}
	if last := s.lists[method]; last != nil && last.holds() {
		l.now = s.offer(method, last)
		close(l.done)
		return l
	}
	s.requests[method] = l
	go s.requested(method, l)
	return l
}

// requested makes the request, which no caller's end ends: others may wait for it.
func (s *server) requested(method string, l *listing) {
	ctx, stop := context.WithTimeoutCause(s.listens, s.StartTimeout, messages.Errorf(messages.CauseDeadline,
		"it did not answer %s within %s", method, s.StartTimeout))
	defer stop()
	err := s.with(ctx, false, func(conn *connection) error { _, err := conn.entries(ctx, method); return err })
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	s.listing.Lock()
	last := s.lists[method]
	if last != nil && (err == nil || time.Since(last.at) < listAge) {
		l.now = s.offer(method, last)
	}
	if err != nil {
		err = s.failed(err)
	}
	l.err, s.unlisted = err, err != nil
	delete(s.requests, method)
	close(l.done)
	tell := l.missed && err == nil
	s.listing.Unlock()
	if err != nil && s.listens.Err() == nil {
		s.log.Warn("a server does not list", zap.String("method", method), zap.Error(err))
	}
	if tell {
		s.changed(Lists[method].Changed, "")
	}
}

// holds reports whether the list is as its server would list it now, for all that is known.
func (e *entries) holds() bool {
	return e.conn != nil && !e.conn.link.lost() && time.Since(e.at) < listAge
}

// outdate says that the lists may have changed.
func (s *server) outdate() {
	s.listing.Lock()
	defer s.listing.Unlock()
	s.changes++
	for _, e := range s.lists {
		e.conn = nil
	}
}

// offer returns what is offered of a list. s.listing must be held.
func (s *server) offer(method string, e *entries) *List {
	if e.offered != nil && len(e.offered.Names) == len(e.all.Names) {
		return e.offered
	}
	if e.offered = e.all; method != "tools/list" || s.events == nil || s.events.Offer == nil {
		return e.all
	}
	e.offered = &List{TTL: e.all.TTL}
	for i, raw := range e.all.Entries {
		if s.events.Offer(s.Name, raw) {
			e.offered.add(e.all.Names[i], raw)
		}
	}
	return e.offered
}

// entries returns a list, and requests it if it may have changed.
func (c *connection) entries(ctx context.Context, method string) (*entries, error) {
	s := c.server
	s.listing.Lock()
	last, changes := s.lists[method], s.changes
	known := last != nil && last.conn == c && last.holds()
	s.listing.Unlock()
	if known {
		return last, nil
	}
	now := &entries{all: &List{TTL: listAge.Milliseconds()}, at: time.Now(), conn: c}
	seen := map[string]bool{}
	cursor, size, idle := "", 0, 0
	for pages := 0; ; pages++ {
		list, next, bytes, err := c.page(ctx, method, cursor, now.all)
		if refused, ok := errors.AsType[*rpcError](err); ok && refused.Code == mcp.METHOD_NOT_FOUND {
			break
		}
		if err != nil {
			return nil, err
		}
		idle++
		for _, raw := range list {
			name, entry := entryOf(method, raw)
			if name != "" && !seen[name] && (method != "tools/list" || s.allows(name)) {
				now.all.add(name, entry)
				seen[name], idle = true, 0
			}
		}
		size += bytes
		if next == "" || next == cursor || idle == mostIdle {
			break
		}
		if pages == mostTools || size > mostList {
			now.left = fmt.Errorf("it has more than %d pages or %d bytes of %s; the others are left out", mostTools, mostList, method)
			s.log.Warn("a list is too long", zap.Error(now.left))
			break
		}
		cursor = next
	}
	s.listing.Lock()
	defer s.listing.Unlock()
	if s.changes != changes {
		now.conn = nil
	}
	s.lists[method] = now
	return now, nil
}

// entryOf returns an entry of a list with its name, which is "" if clients would not understand it. A tool gets the schema of
// an object if it has none: many clients refuse a list with any other.
func entryOf(method string, raw json.RawMessage) (name string, entry json.RawMessage) {
	var members, schema map[string]json.RawMessage
	var tool definition
	_ = json.Unmarshal(raw, &members)
	_ = json.Unmarshal(members[Lists[method].Name], &name) // other entries have no name
	switch {
	case method != "tools/list" || name == "":
	case json.Unmarshal(raw, &tool) != nil || words.OneLine(name) != name:
		return "", nil
	case json.Unmarshal(tool.InputSchema, &schema) != nil || string(schema["type"]) != `"object"`:
		if schema == nil {
			schema = map[string]json.RawMessage{}
		}
		schema["type"] = json.RawMessage(`"object"`)
		members["inputSchema"], _ = json.Marshal(schema)
		raw, _ = json.Marshal(members) // it was JSON
	}
	return name, raw
}

// page requests a page of a list, and returns its entries, the cursor of the next page and its size in bytes. It keeps the TTL of all.
func (c *connection) page(ctx context.Context, method, cursor string, all *List) (list []json.RawMessage, next string, size int, err error) {
	params, _ := json.Marshal(map[string]string{"cursor": cursor})
	if cursor == "" {
		params = nil
	}
	ours := &request{ctx: ctx}
	text, err := c.passed(ctx, ours, method, params)
	if err != nil {
		return nil, "", 0, err
	}
	var page map[string]json.RawMessage
	var more struct {
		NextCursor string
		TTLMS      *int64 `json:"ttlMs"`
	}
	if err := cmp.Or(json.Unmarshal(text, &page), json.Unmarshal(page[Lists[method].List], &list), json.Unmarshal(text, &more)); err != nil {
		return nil, "", 0, fmt.Errorf("its answer to %s is not understood: %w", method, err)
	}
	if more.TTLMS != nil {
		all.TTL = min(all.TTL, max(*more.TTLMS, 0))
	}
	if ours.valid != nil { // it lacks the tools whose x-mcp-header is invalid
		list = slices.DeleteFunc(list, func(raw json.RawMessage) bool {
			var d definition
			_ = json.Unmarshal(raw, &d) // of another form it has no name
			return !slices.ContainsFunc(ours.valid.Tools, func(t mcp.Tool) bool { return t.Name == d.Name })
		})
	}
	return list, more.NextCursor, len(text), nil
}

// definitions returns the tools of a list as a model may be told of them, by name. left says which ones are left out.
func (s *server) definitions(e *entries) (tools map[string]definition, left error) {
	s.listing.Lock()
	defer s.listing.Unlock()
	if e.tools != nil {
		return e.tools, e.left
	}
	e.tools = map[string]definition{}
	large := ""
	for i, raw := range e.all.Entries {
		var d definition
		_ = json.Unmarshal(raw, &d) // entryOf has read it
		switch name := e.all.Names[i]; {
		case len(d.InputSchema) > mostSchema:
			large = name
		case len(e.tools) == mostTools:
			e.left = fmt.Errorf("it has more than %d tools; the others are left out", mostTools)
		default:
			d.Description = words.Clip(d.Description, mostDescription)
			e.tools[name] = d
		}
	}
	if large != "" {
		e.left = errors.Join(e.left, fmt.Errorf("tools such as %s are left out: their schemas have more than %d bytes", large, mostSchema))
	}
	return e.tools, e.left
}

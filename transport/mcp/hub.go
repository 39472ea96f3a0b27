package mcp

import (
	"context"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// hub knows who subscribed to what, and watches the runs that make it change: one watcher per run, however many
// subscribed, that ends with the run or with the last subscriber.
type hub struct {
	server *Server
	ctx    context.Context // ends the watchers and the subscribers of sessions
	end    context.CancelFunc

	mu       sync.Mutex
	locators []Locate
	interest map[messages.RunID]map[topic]map[*subscriber]struct{} // by run; "" for what no run changes
	watchers map[messages.RunID]*watcher
	sessions map[*wire.Session]*subscriber
}

// Locate returns the run, and the artifact of it, that make the resource of the URI change; ok is false for a URI of
// others.
type Locate func(uri string) (run messages.RunID, artifact string, ok bool)

func newHub(s *Server) *hub {
	ctx, end := context.WithCancel(context.Background())
	return &hub{server: s, ctx: ctx, end: end,
		interest: map[messages.RunID]map[topic]map[*subscriber]struct{}{},
		watchers: map[messages.RunID]*watcher{}, sessions: map[*wire.Session]*subscriber{}}
}

func (h *hub) close() { h.end() }

// Locate has resources with other URIs than run:// that are artifacts of runs change with them.
func (s *Server) Locate(l Locate) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.locators = append(s.hub.locators, l)
}

// Updated tells those who subscribed to the resource that it has changed.
func (s *Server) Updated(uri string) {
	t, ok := s.hub.topicOf(uri)
	if !ok {
		return
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	for sub := range s.hub.interest[t.run][t] {
		sub.mark(t)
	}
}

// topicOf returns the topic of a resource; false for a URI that names nothing of a run.
func (h *hub) topicOf(uri string) (topic, bool) {
	if u, ok := parseURI(uri); ok {
		return topic{uri: uri, run: u.run, artifact: u.name}, true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, locate := range h.locators {
		if run, artifact, ok := locate(uri); ok {
			return topic{uri: uri, run: run, artifact: artifact}, true
		}
	}
	return topic{uri: uri}, !strings.HasPrefix(uri, runScheme)
}

// add subscribes to the topic; state is that of the topic's run.
func (h *hub) add(sub *subscriber, t topic, state messages.State) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, there := sub.topics[t]; there || sub.gone {
		return nil
	}
	if len(sub.topics) >= maxTopics {
		return tooMany()
	}
	sub.topics[t] = struct{}{}
	if h.interest[t.run] == nil {
		h.interest[t.run] = map[topic]map[*subscriber]struct{}{}
	}
	if h.interest[t.run][t] == nil {
		h.interest[t.run][t] = map[*subscriber]struct{}{}
	}
	h.interest[t.run][t][sub] = struct{}{}
	if t.run != "" && !state.Status.IsEnded() && h.watchers[t.run] == nil && h.ctx.Err() == nil {
		ctx, stop := context.WithCancel(h.ctx)
		w := &watcher{stop}
		h.watchers[t.run] = w
		go h.watch(ctx, w, t.run, state.Seq)
	}
	return nil
}

// remove ends the subscription to the topic. A change that is not told yet is not told any more.
func (h *hub) remove(sub *subscriber, t topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget(sub, t)
}

// drop ends all that the subscriber subscribed to.
func (h *hub) drop(sub *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dropLocked(sub)
}

// dropLocked is drop under mu.
func (h *hub) dropLocked(sub *subscriber) {
	for t := range sub.topics {
		h.forget(sub, t)
	}
}

// forget is remove under mu.
func (h *hub) forget(sub *subscriber, t topic) {
	delete(sub.topics, t)
	sub.unmark(t)
	delete(h.interest[t.run][t], sub)
	if len(h.interest[t.run][t]) > 0 {
		return
	}
	delete(h.interest[t.run], t)
	if len(h.interest[t.run]) > 0 {
		return
	}
	delete(h.interest, t.run)
	h.retire(t.run, h.watchers[t.run])
}

package mcp

import (
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// hub knows who subscribed to what, and watches the runs that make it change: one watcher per run, however many
// subscribed, that ends with the run or with the last subscriber. Subscribers end with their session or stream.
type hub struct {
	server *Server

	mu       sync.Mutex
	changes  []Changes
	interest map[source]map[topic]map[*subscriber]struct{}
	readers  map[string]int // of each owner, the topics that are files
	watchers map[messages.RunID]*watcher
	sessions map[*wire.Session]*subscriber
}

func newHub(s *Server) *hub {
	return &hub{server: s, interest: map[source]map[topic]map[*subscriber]struct{}{}, readers: map[string]int{},
		watchers: map[messages.RunID]*watcher{}, sessions: map[*wire.Session]*subscriber{}}
}

// Updated tells those who subscribed to the resource that it has changed. Of what Changes say to be files, runs alone
// tell.
func (s *Server) Updated(uri string) {
	t, ok := s.hub.topicOf(uri)
	if !ok {
		return
	}
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	markAll(s.hub.interest[t.source][t], t)
}

// topicOf returns the topic of a resource; false for a URI that names nothing of a run.
func (h *hub) topicOf(uri string) (topic, bool) {
	if u, ok := parseURI(uri); ok {
		return topic{uri: uri, source: source{run: u.run}, artifact: u.name}, true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.changes {
		if c.Artifact == nil {
			continue
		}
		if run, artifact, ok := c.Artifact(uri); ok {
			return topic{uri: uri, source: source{run: run}, artifact: artifact}, true
		}
	}
	return topic{uri: uri}, !strings.HasPrefix(uri, runScheme)
}

// add subscribes to the topic; state is that of the topic's run.
func (h *hub) add(sub *subscriber, t topic, state messages.State) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, there := sub.topics[t]; !there && len(sub.topics) >= maxTopics {
		return tooMany()
	}
	if sub.gone {
		return nil
	}
	sub.topics[t] = struct{}{}
	if h.interest[t.source] == nil {
		h.interest[t.source] = map[topic]map[*subscriber]struct{}{}
	}
	if h.interest[t.source][t] == nil {
		h.interest[t.source][t] = map[*subscriber]struct{}{}
		h.count(t, 1)
	}
	h.interest[t.source][t][sub] = struct{}{}
	h.attend(state)
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
	if _, there := sub.topics[t]; !there {
		return
	}
	delete(sub.topics, t)
	sub.unmark(t)
	delete(h.interest[t.source][t], sub)
	if len(h.interest[t.source][t]) > 0 {
		return
	}
	h.count(t, -1)
	delete(h.interest[t.source], t)
	if len(h.interest[t.source]) > 0 {
		return
	}
	delete(h.interest, t.source)
	h.unattended(t.source)
}

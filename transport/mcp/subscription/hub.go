package subscription

import (
	"context"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/task"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// Config is what a Hub is made of.
type Config struct {
	Runs  caller.Runs
	Tasks *task.Tasks
	MCP   *server.MCPServer // whose lists change
	Log   *zap.Logger
	// Retry is how long after it failed a run is read again.
	Retry time.Duration
}

// Hub knows who subscribed to what, and reads the runs that make it change: each once, however many subscribed, until
// it ends or nobody is subscribed. Subscribers end with their session or stream.
type Hub struct {
	config Config
	runs   caller.Runs

	mu       sync.Mutex
	changes  []Changes
	topics   map[source]map[topic]map[*subscriber]struct{}
	files    map[string]int // of each owner, the topics that are files
	watches  map[messages.RunID]*watch
	sessions map[*wire.Session]*subscriber
}

// watch is a run that is being read.
type watch struct {
	run  messages.State // when it began
	stop context.CancelFunc
}

// New returns a Hub of nobody.
func New(config Config) *Hub {
	return &Hub{config: config, runs: config.Runs, topics: map[source]map[topic]map[*subscriber]struct{}{},
		files: map[string]int{}, watches: map[messages.RunID]*watch{}, sessions: map[*wire.Session]*subscriber{}}
}

// Methods are the protocol's methods about subscriptions.
func (h *Hub) Methods() map[string]wire.Method {
	return map[string]wire.Method{"resources/subscribe": h.subscribe, "resources/unsubscribe": h.unsubscribe,
		"subscriptions/listen": h.listen}
}

// Updated notifies the subscribers of a resource that it has changed. Files of Changes are for runs alone to change.
func (h *Hub) Updated(uri string) {
	t, ok := h.topicOf(uri)
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.mark(t)
}

// mark notifies all who subscribed to the topic. Under mu.
func (h *Hub) mark(t topic) {
	for sub := range h.topics[t.source][t] {
		sub.mark(t)
	}
}

// add subscribes to the topic; run is the topic's.
func (h *Hub) add(sub *subscriber, t topic, run messages.State) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, there := sub.topics[t]; !there && len(sub.topics) >= maxTopics {
		return tooMany()
	}
	if sub.closed {
		return nil
	}
	sub.topics[t] = struct{}{}
	if h.topics[t.source] == nil {
		h.topics[t.source] = map[topic]map[*subscriber]struct{}{}
	}
	if h.topics[t.source][t] == nil {
		h.topics[t.source][t] = map[*subscriber]struct{}{}
		h.count(t, 1)
	}
	h.topics[t.source][t][sub] = struct{}{}
	h.watch(run)
	return nil
}

// remove ends subscriptions to the topics. No notification of them follows.
func (h *Hub) remove(sub *subscriber, topics ...topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range topics {
		h.removeLocked(sub, t)
	}
}

// close ends all that the subscriber subscribed to, for ever.
func (h *Hub) close(sub *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	sub.closed = true
	for t := range sub.topics {
		h.removeLocked(sub, t)
	}
}

// removeLocked is remove under mu.
func (h *Hub) removeLocked(sub *subscriber, t topic) {
	if _, there := sub.topics[t]; !there {
		return
	}
	delete(sub.topics, t)
	sub.unmark(t)
	delete(h.topics[t.source][t], sub)
	if len(h.topics[t.source][t]) > 0 {
		return
	}
	h.count(t, -1)
	delete(h.topics[t.source], t)
	if len(h.topics[t.source]) > 0 {
		return
	}
	delete(h.topics, t.source)
	h.unwatch(t.source)
}

// count keeps how many topics of an owner are files. Under mu.
func (h *Hub) count(t topic, n int) {
	if t.path == "" {
		return
	}
	if h.files[t.owner] += n; h.files[t.owner] == 0 {
		delete(h.files, t.owner)
	}
}

// Kept is how much a Hub keeps, which is nothing when everybody has left.
type Kept struct{ Runs, Topics, Sessions, Owners int }

// Kept returns how much the Hub keeps.
func (h *Hub) Kept() Kept {
	h.mu.Lock()
	defer h.mu.Unlock()
	k := Kept{Runs: len(h.watches), Sessions: len(h.sessions), Owners: len(h.files)}
	for _, topics := range h.topics {
		k.Topics += len(topics)
	}
	return k
}

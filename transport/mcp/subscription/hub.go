package subscription

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/task"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// Config configures a Hub.
type Config struct {
	Runs  caller.Runs
	Tasks *task.Tasks
	Log   *zap.Logger
	// Retry is the pause before a run is read again after an error.
	Retry time.Duration
}

// Hub keeps the subscriptions of all clients. A subscriber is removed when its session or stream ends. A Hub is safe
// for concurrent use; mu guards the maps. Changes are added before the first subscriber.
type Hub struct {
	config Config
	runs   caller.Runs

	changes []Changes

	mu       sync.Mutex
	all      map[*subscriber]struct{}
	sessions map[*wire.Session]*subscriber
}

// New returns a Hub without subscribers.
func New(config Config) *Hub {
	return &Hub{config: config, runs: config.Runs, all: map[*subscriber]struct{}{}, sessions: map[*wire.Session]*subscriber{}}
}

// Methods returns the handlers of the protocol's methods about subscriptions.
func (h *Hub) Methods() map[string]wire.Method {
	return map[string]wire.Method{"resources/subscribe": h.subscribe, "resources/unsubscribe": h.unsubscribe,
		"subscriptions/listen": h.listen}
}

// Updated notifies the subscribers of a resource that it has changed. It does not apply to files of [Changes], which
// only runs change.
func (h *Hub) Updated(uri string) {
	if t, ok := h.topicOf(uri); ok {
		h.mark(t)
	}
}

// Listed notifies listeners that a list has changed. method is the notification's method.
func (h *Hub) Listed(method string) { h.mark(topic{method: method}) }

// mark queues a notification of the topic for all its subscribers.
func (h *Hub) mark(t topic) {
	for _, sub := range h.subscribers() {
		sub.mark(func(own topic) bool { return own == t })
	}
}

// Started follows a new run for those who subscribed to files that it may write, and notifies them of what it has
// written so far.
func (h *Hub) Started(run messages.State) {
	for _, sub := range h.subscribers() {
		if run.Queued != nil && sub.owner == run.Queued.Principal {
			sub.followFiles(run)
		}
	}
}

func (h *Hub) subscribers() []*subscriber {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.all))
}

// newSubscriber returns a subscriber for the owner. tell is called with each change until ctx is done. mu must be held.
func (h *Hub) newSubscriber(ctx context.Context, owner string, tell func(context.Context, topic)) *subscriber {
	sub := &subscriber{hub: h, owner: owner, tell: tell, topics: map[topic]context.CancelFunc{},
		files: map[messages.RunID]bool{}, bell: make(chan struct{}, 1)}
	sub.ctx, sub.end = context.WithCancel(ctx)
	h.all[sub] = struct{}{}
	return sub
}

// close removes the subscriber and ends all its subscriptions.
func (h *Hub) close(sub *subscriber) {
	sub.close()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, sub)
}

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

// Config is what a Hub is made of.
type Config struct {
	Runs  caller.Runs
	Tasks *task.Tasks
	Log   *zap.Logger
	// Retry is how long after it failed a run is read again.
	Retry time.Duration
}

// Hub knows who subscribed to what. Subscribers end with their session or stream.
type Hub struct {
	config Config
	runs   caller.Runs

	changes []Changes

	mu       sync.Mutex
	all      map[*subscriber]struct{}
	sessions map[*wire.Session]*subscriber
}

// New returns a Hub of nobody.
func New(config Config) *Hub {
	return &Hub{config: config, runs: config.Runs, all: map[*subscriber]struct{}{}, sessions: map[*wire.Session]*subscriber{}}
}

// Methods are the protocol's methods about subscriptions.
func (h *Hub) Methods() map[string]wire.Method {
	return map[string]wire.Method{"resources/subscribe": h.subscribe, "resources/unsubscribe": h.unsubscribe,
		"subscriptions/listen": h.listen}
}

// Updated notifies the subscribers of a resource that it has changed. Files of Changes are for runs alone to change.
func (h *Hub) Updated(uri string) {
	if t, ok := h.topicOf(uri); ok {
		h.mark(t)
	}
}

// Listed notifies those who listen that a list has changed. method is the notification's.
func (h *Hub) Listed(method string) { h.mark(topic{method: method}) }

func (h *Hub) mark(t topic) {
	for _, sub := range h.subscribers() {
		sub.mark(func(own topic) bool { return own == t })
	}
}

// Started follows a run that was started just now for those who subscribed to files that it may write. It notifies of
// what the run has written by then: nothing else does.
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

// newSubscriber returns a subscriber of the owner's, who is told by tell until ctx is done. Under mu.
func (h *Hub) newSubscriber(ctx context.Context, owner string, tell func(context.Context, topic)) *subscriber {
	sub := &subscriber{hub: h, owner: owner, tell: tell, topics: map[topic]context.CancelFunc{},
		files: map[messages.RunID]bool{}, bell: make(chan struct{}, 1)}
	sub.ctx, sub.end = context.WithCancel(ctx)
	h.all[sub] = struct{}{}
	return sub
}

// close ends all that the subscriber subscribed to, for ever.
func (h *Hub) close(sub *subscriber) {
	sub.close()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, sub)
}

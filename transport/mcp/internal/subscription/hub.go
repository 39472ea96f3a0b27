package subscription

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// Config configures a Hub.
type Config struct {
	Runs wire.Runs
	// Task returns the params of a notification about a run as a task, and its status with the names of its open questions.
	Task func(ctx context.Context, state messages.State, elicits bool, meta map[string]any) (params any, status string)
	// LegacyTask returns the params for clients of 2025-11-25.
	LegacyTask func(messages.State) any
	Log        *zap.Logger
	// Retry is the pause before a run is read again after an error.
	Retry time.Duration
}

// Hub keeps the subscriptions of all clients. A subscriber is removed when its session or stream ends. A Hub is safe
// for concurrent use; mu guards the maps. Changes are added before the first subscriber.
type Hub struct {
	config Config
	runs   wire.Runs

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
	sub.end()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.all, sub)
}

// topic is what a client can subscribe to: a resource, a task, or a list. Which fields are set says which of them it
// is.
type topic struct {
	// method is the notification for a list.
	method string
	// uri is the URI of a resource.
	uri string
	// run is the run that changes the resource, or the run that is the task if uri is "".
	run messages.RunID
	// path is the file that the resource shows, whichever of the caller's runs writes it.
	path string
	// artifact is the artifact of the run that the resource shows; "" if every milestone changes the resource.
	artifact string
}

// changes reports whether a milestone of the topic's run may change what the topic shows.
func (t topic) changes(e messages.Event) bool {
	switch b := e.Body.(type) {
	case messages.ArtifactWritten:
		return t.uri != "" && (t.artifact == "" || t.artifact == b.Name)
	case messages.ArtifactPartial:
		return t.uri != "" && (t.artifact == "" || t.artifact == b.Name)
	case messages.InputRequired, messages.InputReceived, messages.RunCanceling, messages.RunRecovered:
		return t.artifact == ""
	}
	return e.IsTerminal() || t.uri != "" && t.artifact == ""
}

// Changes say how runs change resources. Functions that are nil change none.
type Changes struct {
	// Artifact returns which run the resource shows, and which of its artifacts. name is "" for the whole run.
	// run is "" for a URI that names nothing. ok is false for a URI of another kind.
	Artifact func(uri string) (run messages.RunID, name string, ok bool)
	// Files returns the paths below the caller's folder that the resource may show, whichever of the caller's runs
	// writes them. It returns nil for a URI of another kind.
	Files func(uri string) []string
	// File returns the path, below its principal's folder, of the file that the run wrote as the artifact; "" if there
	// is none.
	File func(run messages.State, artifact messages.Artifact) string
}

// Add notifies subscribers of resources when runs change them. It must be called before anybody subscribes.
func (h *Hub) Add(c Changes) { h.changes = append(h.changes, c) }

// topicOf returns the topic of a resource. ok is false for a URI that should name a run but does not.
func (h *Hub) topicOf(uri string) (topic, bool) {
	for _, c := range h.changes {
		if c.Artifact == nil {
			continue
		}
		if run, artifact, ok := c.Artifact(uri); ok {
			return topic{uri: uri, run: run, artifact: artifact}, run != ""
		}
	}
	return topic{uri: uri}, true
}

// filesOf returns the topics of a resource that shows a file below the caller's folder.
func (h *Hub) filesOf(uri string) []topic {
	var topics []topic
	for _, c := range h.changes {
		if c.Files == nil {
			continue
		}
		for _, path := range c.Files(uri) {
			topics = append(topics, topic{uri: uri, path: path})
		}
	}
	return topics
}

// pathsOf returns the paths of the file that the run wrote as the artifact.
func (h *Hub) pathsOf(run messages.State, artifact messages.Artifact) []string {
	var paths []string
	for _, c := range h.changes {
		if c.File == nil {
			continue
		}
		if path := c.File(run, artifact); path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// Newest returns the run's artifacts whose files no later run has overwritten. written holds the files of later runs;
// Newest adds the run's own.
func (h *Hub) Newest(run messages.State, written map[string]bool) []messages.Artifact {
	var own []messages.Artifact
	var files []string
	for _, a := range run.Artifacts {
		paths := h.pathsOf(run, a)
		if !slices.ContainsFunc(paths, func(path string) bool { return written[path] }) {
			own = append(own, a)
		}
		files = append(files, paths...)
	}
	for _, path := range files {
		written[path] = true
	}
	return own
}

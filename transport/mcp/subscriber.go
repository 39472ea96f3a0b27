package mcp

import (
	"context"
	"slices"
	"sync"

	"github.com/seed889630bf/lastword/messages"
)

// topic is what can be subscribed to: a resource, a task, or a list.
type topic struct {
	// method is the notification of a list that changed.
	method string
	// uri is the resource's.
	uri string
	// source makes the resource change, or is the task where there is no uri; none where Updated says that it changed.
	source
	// artifact is the one of the run that is the resource; "" for what every milestone changes.
	artifact string
}

// source is what makes topics change: a run, or whichever run of an owner writes a file.
type source struct {
	run         messages.RunID
	owner, path string
}

// changes reports whether the event, a milestone of the topic's run, may change what the topic shows.
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

// maxURI is the most bytes of a URI that is subscribed to: it is kept as long as the subscription.
const maxURI = 4 << 10

// maxTopics is the most that one session, or one stream, subscribes to.
const maxTopics = 64

func tooMany() error {
	return messages.Errorf(messages.Code(messages.CauseLimitExceeded),
		"there are %d subscriptions already, the most there may be; end one first", maxTopics)
}

// subscriber is a client's session or stream that changes are told to. What changed is kept, not how often: a client
// that reads slowly is told less, and costs nobody anything.
type subscriber struct {
	// tell blocks while the client reads slowly. It is called by pump alone.
	tell func(ctx context.Context, t topic)

	topics map[topic]struct{} // the hub's, under its mu, as is gone
	gone   bool               // its session has ended

	mu      sync.Mutex
	pending []topic
	bell    chan struct{}
}

func newSubscriber(tell func(ctx context.Context, t topic)) *subscriber {
	return &subscriber{tell: tell, topics: map[topic]struct{}{}, bell: make(chan struct{}, 1)}
}

// mark has the topic told. It never blocks.
func (s *subscriber) mark(t topic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.pending, t) {
		s.pending = append(s.pending, t)
	}
	select {
	case s.bell <- struct{}{}:
	default:
	}
}

func (s *subscriber) unmark(t topic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = slices.DeleteFunc(s.pending, func(p topic) bool { return p == t })
}

func (s *subscriber) next() (topic, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 {
		return topic{}, false
	}
	t := s.pending[0]
	s.pending = slices.Delete(s.pending, 0, 1)
	return t, true
}

// pump tells what is marked until ctx is done, or done is closed.
func (s *subscriber) pump(ctx context.Context, done <-chan struct{}) {
	for ctx.Err() == nil {
		if t, ok := s.next(); ok {
			s.tell(ctx, t)
			continue
		}
		select {
		case <-s.bell:
		case <-done:
			return
		case <-ctx.Done():
		}
	}
}

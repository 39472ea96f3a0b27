package subscription

import (
	"context"
	"slices"
	"sync"

	"github.com/seed889630bf/lastword/messages"
)

// maxTopics is the most that one session, or one stream, subscribes to.
const maxTopics = 64

func tooMany() error {
	return messages.Errorf(messages.Code(messages.CauseLimitExceeded),
		"there are %d subscriptions already, the most there may be; end one first", maxTopics)
}

// subscriber is a client's session or stream that gets notifications. It keeps what changed, not how often: a client
// that reads slowly gets fewer, and delays nobody.
type subscriber struct {
	// tell blocks while the client reads slowly. It is called by pump alone.
	tell func(ctx context.Context, t topic)

	topics map[topic]struct{} // the hub's, under its mu, as is closed
	closed bool               // its session or stream has ended

	mu      sync.Mutex
	pending []topic
	bell    chan struct{}
}

func newSubscriber(tell func(ctx context.Context, t topic)) *subscriber {
	return &subscriber{tell: tell, topics: map[topic]struct{}{}, bell: make(chan struct{}, 1)}
}

// mark queues a notification of the topic. It never blocks.
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

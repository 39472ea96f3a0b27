package subscription

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
)

// maxTopics is the most that one session, or one stream, subscribes to.
const maxTopics = 64

func tooMany() error {
	return messages.Errorf(messages.CauseLimitExceeded,
		"there are %d subscriptions already, the most there may be; end one first", maxTopics)
}

// subscriber is a client's session or stream that gets notifications. It follows the runs that make its topics change,
// and keeps what changed, not how often: a client that reads slowly gets fewer, and delays nobody.
type subscriber struct {
	hub   *Hub
	owner string // the principal whose files it may subscribe to
	// tell blocks while the client reads slowly. It is called by pump alone.
	tell func(ctx context.Context, t topic)
	bell chan struct{}

	mu      sync.Mutex
	closed  bool // its session or stream has ended
	topics  map[topic]struct{}
	follows map[messages.RunID]context.CancelFunc
	pending []topic
}

// add subscribes to the topic.
func (s *subscriber) add(t topic) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.topics[t]; !there && t.method == "" && len(s.topics) >= maxTopics {
		return tooMany()
	}
	if !s.closed {
		s.topics[t] = struct{}{}
	}
	return nil
}

// remove ends subscriptions to the topics. No notification of them follows.
func (s *subscriber) remove(topics ...topic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range topics {
		delete(s.topics, t)
	}
	s.pending = slices.DeleteFunc(s.pending, func(t topic) bool { return slices.Contains(topics, t) })
	for id := range s.follows {
		if !s.needs(id) {
			s.unfollow(id)
		}
	}
}

// unfollow stops to follow the run. Under mu.
func (s *subscriber) unfollow(id messages.RunID) {
	if stop := s.follows[id]; stop != nil {
		stop()
		delete(s.follows, id)
	}
}

// needs reports whether a topic changes with the run. Under mu.
func (s *subscriber) needs(id messages.RunID) bool {
	for t := range s.topics {
		if t.run == id || t.path != "" {
			return true
		}
	}
	return false
}

func (s *subscriber) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	clear(s.topics)
	for id := range s.follows {
		s.unfollow(id)
	}
}

// follow marks what changes with the run, from its State on, until it ends or no topic needs it.
func (s *subscriber) follow(run messages.State) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if run.Status.IsEnded() || s.closed || s.follows[run.RunID] != nil || !s.needs(run.RunID) {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	s.follows[run.RunID] = stop
	go s.read(ctx, run)
}

// read tells what the run's events change. What cannot be read now, as with too many readers, is tried again.
func (s *subscriber) read(ctx context.Context, run messages.State) {
	after := run.Seq
	for ctx.Err() == nil {
		var failed error
		for e, err := range s.hub.runs.Events(ctx, run.RunID, after) {
			if failed = err; err != nil {
				break
			}
			after = e.Seq
			s.took(run, e)
			if e.IsTerminal() {
				return
			}
		}
		switch messages.CodeOf(failed) {
		case messages.CodeNotFound, messages.CodeEventsGone, messages.CodeReset:
			s.hub.config.Log.Warn("a watched run cannot be read", zap.String("run", string(run.RunID)), zap.Error(failed))
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(s.hub.config.Retry):
		}
	}
}

// took marks what the event changes. With the terminal nobody follows the run any more: whoever subscribes later, with
// a State from before, follows it again.
func (s *subscriber) took(run messages.State, e messages.Event) {
	if e.IsDelta() {
		return
	}
	if e.IsTerminal() {
		s.mu.Lock()
		s.unfollow(e.RunID)
		s.mu.Unlock()
	}
	s.mark(func(t topic) bool { return t.run == e.RunID && t.changes(e) })
	if written, ok := e.Body.(messages.ArtifactWritten); ok {
		s.wrote(run, written.Artifact)
	}
}

// wrote marks the files that the run has written as the artifact.
func (s *subscriber) wrote(run messages.State, artifact messages.Artifact) {
	paths := s.hub.pathsOf(run, artifact)
	s.mark(func(t topic) bool { return t.path != "" && slices.Contains(paths, t.path) })
}

// mark queues a notification of each of its topics that changed. It never blocks.
func (s *subscriber) mark(changed func(topic) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t := range s.topics {
		if changed(t) && !slices.Contains(s.pending, t) {
			s.pending = append(s.pending, t)
		}
	}
	select {
	case s.bell <- struct{}{}:
	default:
	}
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

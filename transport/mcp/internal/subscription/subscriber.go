package subscription

import (
	"context"
	"slices"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/messages"
)

// maxTopics is the maximum number of topics of one session or stream.
const maxTopics = 64

func tooMany() error {
	return messages.LimitExceeded("there are %d subscriptions already, the most there may be; end one first", maxTopics)
}

// subscriber is a session or stream that gets notifications. It follows the runs that change its topics, and remembers
// which topics changed, not how often. So a client that reads slowly gets fewer notifications, and delays nobody. mu
// guards the fields below it.
type subscriber struct {
	hub   *Hub
	owner string          // the principal whose files it may subscribe to
	ctx   context.Context // ends with the session or stream
	end   context.CancelFunc
	// tell sends one notification, and blocks while the client reads slowly. Only pump calls it.
	tell func(ctx context.Context, t topic)
	bell chan struct{} // has a token when something is pending

	mu      sync.Mutex
	topics  map[topic]context.CancelFunc // the function stops following the topic's run
	files   map[messages.RunID]bool      // runs that may write a file of a topic, and are followed for that
	pending []topic                      // topics that changed, the oldest first
}

// add subscribes to the topic. If run is not nil, it follows the run from that State on, because the run changes the
// topic.
func (s *subscriber) add(t topic, run *messages.State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ctx.Err() != nil || s.topics[t] != nil:
		return nil
	case t.method == "" && len(s.topics) >= maxTopics:
		return tooMany()
	}
	ctx, stop := context.WithCancel(s.ctx)
	s.topics[t] = stop
	if run != nil {
		go s.follow(ctx, *run, func(e messages.Event) {
			if t.changes(e) {
				s.mark(func(own topic) bool { return own == t })
			}
		})
	}
	return nil
}

// remove ends subscriptions. No notification of these topics follows.
func (s *subscriber) remove(topics ...topic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range topics {
		if stop := s.topics[t]; stop != nil {
			stop()
			delete(s.topics, t)
		}
	}
	s.pending = stable.DeleteFunc(s.pending, func(t topic) bool { return slices.Contains(topics, t) })
}

// follow calls took with each milestone of the run after its State, until the run ends or ctx is done. It retries after
// errors, for example if there are too many readers.
func (s *subscriber) follow(ctx context.Context, run messages.State, took func(messages.Event)) {
	for after := run.Seq; ctx.Err() == nil && !run.Status.IsEnded(); {
		var failed error
		for e, err := range s.hub.runs.Events(ctx, run.RunID, after) {
			if failed = err; err != nil {
				break
			}
			if after = e.Seq; !e.IsDelta() {
				took(e)
			}
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

// followFiles follows a run of the owner that may write files of the subscriber's topics.
func (s *subscriber) followFiles(run messages.State) {
	for _, a := range run.Artifacts {
		s.wrote(run, a)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	wanted := false
	for t := range s.topics {
		wanted = wanted || t.path != ""
	}
	if !wanted || s.files[run.RunID] {
		return
	}
	s.files[run.RunID] = true
	go func() {
		s.follow(s.ctx, run, func(e messages.Event) {
			if written, ok := e.Body.(messages.ArtifactWritten); ok {
				s.wrote(run, written.Artifact)
			}
		})
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.files, run.RunID)
	}()
}

// wrote marks the files that the run has written as the artifact.
func (s *subscriber) wrote(run messages.State, artifact messages.Artifact) {
	paths := s.hub.pathsOf(run, artifact)
	s.mark(func(t topic) bool { return t.path != "" && slices.Contains(paths, t.path) })
}

// mark queues a notification for each topic for which changed returns true. It never blocks.
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

// next returns the oldest topic in the queue and removes it.
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

// pump sends the queued notifications until the subscriber ends or done is closed.
func (s *subscriber) pump(done <-chan struct{}) {
	for s.ctx.Err() == nil {
		if t, ok := s.next(); ok {
			s.tell(s.ctx, t)
			continue
		}
		select {
		case <-s.bell:
		case <-done:
			return
		case <-s.ctx.Done():
		}
	}
}

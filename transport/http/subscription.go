package http

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
)

// subscription sends one run, one tree of runs, or the list of the caller's runs, on a WebSocket. It sends only as many
// events as it has credit. So a client that falls behind costs the server nothing, and gets merged deltas when it
// catches up.
//
// Its own goroutine uses all fields; mu guards those that the reading goroutine changes.
type subscription struct {
	connection *connection
	id         string
	head       []byte // the beginning of each message of events, up to the first event
	run        messages.RunID
	follow     messages.FollowOptions
	feed       *cursor.Feed
	opened     time.Time
	cancel     context.CancelFunc

	mu     sync.Mutex
	credit int           // how many more events may be sent
	window int           // the most credit that the client may have
	more   chan struct{} // has a token after credit was added
}

// subscribe starts a subscription in its own goroutine.
func (c *connection) subscribe(in command) error {
	s, err := c.newSubscription(in)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(c.socket.Context)
	s.cancel = cancel
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.subscriptions[in.ID] != nil:
		cancel()
		return messages.Errorf(messages.CodeConflict, "there is a subscription %.100q already", in.ID)
	case len(c.subscriptions) >= maxSubscriptions:
		cancel()
		return messages.LimitExceeded("the connection has %d subscriptions; end one, or open another connection", maxSubscriptions)
	}
	c.subscriptions[in.ID] = s
	serve := s.serve
	if in.Run == "" {
		serve = s.watch
	}
	c.socket.Go(func() { serve(ctx) })
	return nil
}

// newSubscription checks a command and returns its subscription. It does not start it.
func (c *connection) newSubscription(in command) (*subscription, error) {
	if in.Run == "" {
		return &subscription{connection: c, id: in.ID, more: make(chan struct{}, 1)}, nil
	}
	asked := eventsInput{After: strings.Trim(string(in.After), `"`), Kinds: in.Kinds, Streams: in.Streams, Level: in.Level,
		Rate: in.Rate, Tree: in.Tree}
	follow, cur, err := asked.follow(in.Run)
	if err != nil {
		return nil, err
	}
	if in.Done != "" && in.Done != "digest" {
		return nil, messages.InvalidInput("done is %.100q; it may be digest", in.Done)
	}
	if in.Rate < 0 {
		return nil, messages.InvalidInput("rate is the maximum number of deltas a second, and must not be negative; 0 means all")
	}
	newest, _, err := c.Head(c.socket.Context, in.Run, follow.After)
	if err != nil {
		return nil, err
	}
	if in.Credit <= 0 {
		in.Credit = defaultCredit
	}
	head, err := json.Marshal(map[string]any{"op": "events", "id": in.ID, "head": newest})
	if err != nil {
		return nil, err
	}
	s := &subscription{connection: c, opened: time.Now(), id: in.ID, run: in.Run,
		head: append(head[:len(head)-1], `,"events":[`...), follow: follow,
		feed:   c.feed(c.socket.Context, cur, in.Done != ""),
		credit: min(in.Credit, maxCredit), window: min(in.Credit, maxCredit), more: make(chan struct{}, 1)}
	if in.Snapshot {
		s.follow.Snapshot = s.snapshot
	}
	return s, nil
}

// unsubscribe ends a subscription. The client can use its id again at once.
func (c *connection) unsubscribe(id string) error {
	c.mu.Lock()
	s := c.subscriptions[id]
	delete(c.subscriptions, id)
	c.mu.Unlock()
	if s == nil {
		return messages.Errorf(messages.CodeNotFound, "there is no subscription %.100q", id)
	}
	s.cancel()
	return nil
}

// acknowledge adds credit for events that the client has read. It ignores subscriptions that have ended.
func (c *connection) acknowledge(id string, events int) error {
	if events <= 0 {
		return messages.InvalidInput("events is the number of further events that the client has read, and must be positive")
	}
	c.mu.Lock()
	s := c.subscriptions[id]
	c.mu.Unlock()
	if s == nil {
		return nil
	}
	s.mu.Lock()
	s.credit = min(s.credit+min(events, s.window), s.window)
	s.mu.Unlock()
	select {
	case s.more <- struct{}{}:
	default:
	}
	return nil
}

// serve sends the run's events until the terminal.
func (s *subscription) serve(ctx context.Context) {
	defer s.cancel()
	defer s.connection.Enter()()
	for {
		ended, err := s.send(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			s.end(reply{Op: "problem", ID: s.id, Cursor: cursorText(s.feed.At.Text(s.run)), Problem: auth.ProblemOf(err)})
			return
		case ended:
			s.end(reply{Op: "end", ID: s.id, Cursor: cursorText(s.feed.At.Text(s.run))})
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-s.more:
		}
	}
}

// end removes the subscription before it tells the client, so that the client can use the name again.
func (s *subscription) end(last reply) {
	c := s.connection
	c.mu.Lock()
	if c.subscriptions[s.id] == s {
		delete(c.subscriptions, s.id)
	}
	c.mu.Unlock()
	c.send(last)
}

// send sends events while there is credit, and reports whether the run has ended.
func (s *subscription) send(ctx context.Context) (ended bool, err error) {
	s.feed.At.Resume(&s.follow, s.run)
	for batch, err := range s.connection.Runs.Follow(ctx, s.run, s.follow) {
		if err != nil {
			return false, err
		}
		for len(batch) > 0 {
			s.mu.Lock()
			n := min(len(batch), s.credit)
			s.credit -= n
			s.mu.Unlock()
			if n == 0 && s.credited(ctx) {
				continue
			}
			if n == 0 {
				return false, nil
			}
			if err := s.events(batch[:n]); err != nil {
				return false, err
			}
			s.connection.Late(batch[:n], s.opened)
			batch = batch[n:]
		}
	}
	return true, nil
}

// credited waits a second for credit, and reports whether it came. A client that keeps up sends some within that time,
// so that Follow need not start again, which for a tree reads the log from its beginning. For a client that falls
// behind, the subscription drops its batch.
func (s *subscription) credited(ctx context.Context) bool {
	timer := time.NewTimer(time.Second)
	defer timer.Stop()
	select {
	case <-s.more:
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// events sends the batch, in messages that end with the event that fills them.
func (s *subscription) events(batch []messages.Event) (err error) {
	socket, full := s.connection.socket, false
	_ = socket.SendWith(func(data []byte) []byte { // the connection's reader notices that it is closed
		data = append(data, s.head...)
		first := len(data)
		for _, e := range batch {
			for piece := range s.feed.Events(e) {
				if piece.Body == nil {
					continue
				}
				var line []byte
				if line, err = piece.JSON(); err != nil {
					break
				}
				if len(data) > first {
					data = append(data, ',')
				}
				if data = append(data, line...); len(data) >= messages.WireBytes {
					_ = socket.Send(s.closed(data))
					data, full = append(data[:0], s.head...), true
				}
			}
		}
		if full && len(data) == first {
			return data[:0]
		}
		return s.closed(data)
	})
	return err
}

// closed returns a message of events with its end.
func (s *subscription) closed(data []byte) []byte {
	data = append(data, `],"cursor":`...)
	if s.feed.At.Plain() {
		return append(s.feed.At.Append(data, s.run), '}')
	}
	return append(s.feed.At.Append(append(data, '"'), s.run), `"}`...)
}

// snapshot sends the State that the following events continue. It is sent once.
func (s *subscription) snapshot(state messages.State) {
	s.follow.Snapshot = nil
	s.feed.Begin(state)
	s.connection.send(reply{Op: "snapshot", ID: s.id, Cursor: cursorText(s.feed.At.Text(s.run)), State: &state})
}

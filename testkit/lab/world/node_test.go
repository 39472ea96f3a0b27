package world

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/agui"
	"github.com/seed889630bf/lastword/transport/door"
	api "github.com/seed889630bf/lastword/transport/http"
	"github.com/seed889630bf/lastword/transport/openai"
)

// serve serves the handler on the network, and returns a client of it.
func serve(on *standin.Network, handler http.Handler) (client *http.Client, stop func()) {
	server := &http.Server{Handler: handler}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(on) })
	transport := &http.Transport{DialContext: on.Dial, DisableCompression: true}
	return &http.Client{Transport: transport}, func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		serving.Wait()
	}
}

// node is a System with its doors.
type node struct {
	system  *actors.System
	link    *link
	net     *standin.Network
	client  *http.Client
	stop    func()
	closing atomic.Bool
	closed  chan struct{}
}

func newNode(name string, store journal.Journal, jobs []actors.Definition, disturb func() testkit.Disturbance) (*node, error) {
	n := &node{net: standin.NewNetwork(), closed: make(chan struct{})}
	n.link = &link{Journal: &testkit.Journal{Journal: store, Disturb: func(journal.Block) testkit.Disturbance { return disturb() }},
		awake: make(chan struct{})}
	var err error
	if n.system, err = actors.New(context.Background(), actors.Config{Node: name, Journal: n.link, Jobs: jobs, HandOver: true,
		Drain: 5 * time.Second}); err != nil {
		return nil, err
	}
	to, mux := door.New(door.Config{Runs: n.system, Jobs: n.system.Jobs()}), http.NewServeMux()
	mux.Handle("/", api.New(to))
	for _, path := range agui.Paths() {
		mux.Handle(path, agui.New(to))
	}
	openai.Add(to, func(h *door.Handler, paths ...string) {
		for _, path := range paths {
			mux.Handle(path, h)
		}
	})
	n.client, n.stop = serve(n.net, mux)
	return n, nil
}

// close stops the node's server, and hands its runs over. Anyone who calls it again waits.
func (n *node) close() {
	if n.closing.Swap(true) {
		<-n.closed
		return
	}
	_ = n.system.Close(context.Background()) // a node without a journal cannot end its runs
	n.stop()
	close(n.closed)
}

// link is a node's way to the journal. It is whole, gone for ever, or gone until it is awake.
type link struct {
	journal.Journal
	gone  atomic.Bool
	awake chan struct{}

	mu      sync.Mutex
	waiting []func() // the appends of a node that sleeps
}

func (l *link) sleep(d time.Duration) {
	if l.gone.CompareAndSwap(false, true) {
		time.AfterFunc(d, l.wake)
	}
}

func (l *link) wake() {
	l.mu.Lock()
	waiting := l.waiting
	l.waiting = nil
	l.gone.Store(false)
	close(l.awake)
	l.mu.Unlock()
	for _, send := range waiting {
		send()
	}
}

// wait returns nil if the journal can be reached, once that is known.
func (l *link) wait(ctx context.Context) error {
	if !l.gone.Load() {
		return nil
	}
	select {
	case <-l.awake:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Append never answers a node whose journal is gone for ever.
func (l *link) Append(b journal.Block, done func(error)) {
	l.mu.Lock()
	gone := l.gone.Load()
	if gone {
		l.waiting = append(l.waiting, func() { l.Journal.Append(b, done) })
	}
	l.mu.Unlock()
	if !gone {
		l.Journal.Append(b, done)
	}
}

func (l *link) Read(ctx context.Context, run messages.RunID, after uint64) (journal.Page, error) {
	if err := l.wait(ctx); err != nil {
		return journal.Page{}, err
	}
	return l.Journal.Read(ctx, run, after)
}

func (l *link) List(ctx context.Context, q messages.Query) ([]messages.Summary, error) {
	if err := l.wait(ctx); err != nil {
		return nil, err
	}
	return l.Journal.List(ctx, q)
}

func (l *link) Claim(ctx context.Context, name string) (journal.Claim, error) {
	if err := l.wait(ctx); err != nil {
		return journal.Claim{}, err
	}
	return l.Journal.Claim(ctx, name)
}

func (l *link) Keep(ctx context.Context, c journal.Claim, k journal.ClaimState) error {
	if err := l.wait(ctx); err != nil {
		return err
	}
	return l.Journal.Keep(ctx, c, k)
}

func (l *link) Send(ctx context.Context, c journal.Command) error {
	if err := l.wait(ctx); err != nil {
		return err
	}
	return l.Journal.Send(ctx, c)
}

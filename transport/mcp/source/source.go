package source

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"go.uber.org/zap"
)

// Tool is a tool of a server, as the settings let it be seen.
type Tool struct {
	Server string
	// Origin is the command or the URL of the server, as the settings have it.
	Origin string
	// Name is mcp__SERVER__TOOL, or like it.
	Name        string
	Description string
	Parameters  json.RawMessage
	// ReadOnly, Idempotent and Local are what a trusted server says. Local: it reaches no network.
	ReadOnly, Idempotent, Local bool
	// Named: the settings allow the tool by its name.
	Named   bool
	Timeout time.Duration
	// Call returns a text for a model.
	Call func(ctx context.Context, c Call) (string, error)
}

// Source is servers whose tools can be called.
type Source struct {
	servers []*server
	stop    context.CancelFunc
}

// New returns a Source that has started nothing yet. Version is the one that servers are told of us.
func New(servers []Server, version string, log *zap.Logger) *Source {
	if log == nil {
		log = zap.NewNop()
	}
	life, stop := context.WithCancel(context.Background())
	s := &Source{stop: stop}
	for _, one := range servers {
		s.servers = append(s.servers, &server{Server: one, life: life, version: version, pause: time.Second, turn: make(chan struct{}, 1),
			log: log.With(zap.String("server", one.Name))})
	}
	return s
}

// Tools returns the tools as they are now, sorted by their names, for one turn. It starts the servers that do not run,
// all at once. The error says which servers have no tools and why; their last known tools are returned all the same,
// and answer with the reason.
func (s *Source) Tools(ctx context.Context) (all []Tool, err error) {
	lists, errs := make([][]definition, len(s.servers)), make([]error, len(s.servers))
	var listing sync.WaitGroup
	for i, one := range s.servers {
		listing.Go(func() { lists[i], errs[i] = one.list(ctx) })
	}
	listing.Wait()
	taken := map[string]bool{}
	for i, one := range s.servers {
		for _, d := range lists[i] {
			t := one.tool(d, nameOf(one.Name, d.Name, taken))
			taken[t.Name] = true
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return all, errors.Join(errs...)
}

// Close ends the servers, and returns when they have ended.
func (s *Source) Close() {
	late := time.AfterFunc(2*grace, s.stop) // of one that starts
	defer late.Stop()
	defer s.stop()
	var ending sync.WaitGroup
	for _, one := range s.servers {
		ending.Go(one.close)
	}
	ending.Wait()
}

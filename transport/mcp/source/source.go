package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/internal/stable"
)

// Tool is a tool of a server, as the settings allow it to be seen.
type Tool struct {
	Server string
	// Origin is the command or URL of the server.
	Origin string
	// Name is mcp__SERVER__TOOL, or similar if that is not a valid name.
	Name        string
	Description string
	Parameters  json.RawMessage
	// ReadOnly, Idempotent and Local are hints of a trusted server. Local means that the tool uses no network.
	ReadOnly, Idempotent, Local bool
	// Named says that the settings allow the tool by name.
	Named   bool
	Timeout time.Duration
	// Call calls the tool and returns a text for the model.
	Call func(ctx context.Context, c Call) (string, error)
}

// Source gives access to the tools of several servers. It is safe for concurrent use.
type Source struct {
	servers []*server
	lives
}

// New returns a Source. It starts no server yet. version is what servers are told about this program.
func New(servers []Server, version string, log *zap.Logger) *Source {
	log = cmp.Or(log, zap.NewNop())
	s := &Source{lives: newLives()}
	for _, one := range servers {
		s.servers = append(s.servers, newServer(&s.lives, one, version, time.Second,
			mcp.ClientCapabilities{Elicitation: &mcp.ElicitationCapability{Form: &struct{}{}, URL: &struct{}{}}}, log))
	}
	return s
}

// Tools returns the current tools of all servers, sorted by name, for one turn. It starts those servers that are not
// running, concurrently. The error says which servers have failed and why. Their last known tools are included; calls
// of them return that error.
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
	stable.Sort(all, func(a, b Tool) int { return strings.Compare(a.Name, b.Name) })
	return all, errors.Join(errs...)
}

// Close stops the servers and waits until they have ended.
func (s *Source) Close() { s.end(s.servers) }

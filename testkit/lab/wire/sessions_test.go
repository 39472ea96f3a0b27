package wire_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	mcpgo "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// The official Go client gives up a session whose stream it cannot open again.
func TestOfficialClientLosesItsStream(t *testing.T) {
	network := &lossy{cut: make(chan struct{}), again: make(chan int, 1), lost: make(chan io.Closer, 1)}
	session := official(t, newFixture(t, wire.Config{}).serveHTTP(t), network)
	defer network.found()
	close(network.cut)
	if status := soon(t, network.again); status != http.StatusOK {
		t.Error(status)
	}
	if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "echo"}); err != nil {
		t.Error(err)
	}
}

func official(t *testing.T, url string, over http.RoundTripper) *sdk.ClientSession {
	t.Helper()
	network := &http.Client{Transport: over}
	t.Cleanup(network.CloseIdleConnections)
	c := sdk.NewClient(&sdk.Implementation{Name: "c", Version: "1"}, nil)
	session, err := c.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: network},
		&sdk.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// lossy is a network that the first stream is lost in: its client reads an error, its server nothing.
type lossy struct {
	http.Transport
	cut   chan struct{}
	again chan int // the status of the second stream
	gets  atomic.Int32
	lost  chan io.Closer
}

// found ends what was lost.
func (l *lossy) found() { (<-l.lost).Close() }

func (l *lossy) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodGet {
		return l.Transport.RoundTrip(r)
	}
	n := l.gets.Add(1)
	if n == 1 {
		r = r.Clone(context.WithoutCancel(r.Context()))
	}
	response, err := l.Transport.RoundTrip(r)
	switch {
	case err != nil:
	case n == 1:
		read, write := io.Pipe()
		go func() {
			<-l.cut
			_ = write.CloseWithError(errors.New("the network is down"))
		}()
		l.lost <- response.Body
		response.Body = read
	case n == 2:
		l.again <- response.StatusCode
	}
	return response, err
}

// The clients know by the answer that they have to begin anew.
func TestClientsLearnThatTheirSessionEnded(t *testing.T) {
	f := newFixture(t, wire.Config{})
	url := f.serveHTTP(t)
	end := func(session string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Mcp-Session-Id", session)
		network := &http.Client{Transport: new(http.Transport)}
		defer network.CloseIdleConnections()
		response, err := network.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if response.Body.Close(); response.StatusCode != http.StatusOK {
			t.Error(response.Status)
		}
	}
	session := official(t, url, new(http.Transport))
	end(session.ID())
	if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "echo"}); !errors.Is(err, sdk.ErrSessionMissing) {
		t.Error(err)
	}

	way, err := transport.NewStreamableHTTP(url)
	if err != nil {
		t.Fatal(err)
	}
	c := mcpgo.NewClient(way)
	defer c.Close()
	begin := mcp.InitializeRequest{}
	begin.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	if _, err := c.Initialize(t.Context(), begin); err != nil {
		t.Fatal(err)
	}
	end(way.GetSessionId())
	if _, err := c.ListTools(t.Context(), mcp.ListToolsRequest{}); !errors.Is(err, transport.ErrSessionTerminated) {
		t.Error(err)
	}
}

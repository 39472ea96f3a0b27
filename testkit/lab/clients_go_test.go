package lab_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	mcpgo "github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed889630bf/lastword/messages"
)

// kitClient is an SDK's client as the scenarios need it.
type kitClient interface {
	// call calls a tool with a progress token; its progress reaches the inbox that the client was dialed with.
	call(ctx context.Context, name string, arguments any, token string) (result any, err error)
	read(ctx context.Context, uri string) (string, error)
	version() string
	close()
}

// dialer opens a client whose progress notifications go to the inbox.
type dialer func(ctx context.Context, in *inbox) (kitClient, error)

// inbox sorts progress notifications by their token.
type inbox struct {
	mu    sync.Mutex
	calls map[string]*inboxCall
}

type inboxCall struct {
	watched
	over    bool
	onEvent func(n int)
}

// progress takes the parameters of a notifications/progress.
func (in *inbox) progress(params any) {
	data, _ := json.Marshal(params)
	var p struct {
		ProgressToken string `json:"progressToken"`
		Meta          struct {
			Event *seen `json:"io.github.seed889630bf.lastword/event"`
		} `json:"_meta"`
	}
	if json.Unmarshal(data, &p) != nil {
		return
	}
	in.mu.Lock()
	c := in.calls[p.ProgressToken]
	if c == nil {
		in.mu.Unlock()
		return
	}
	if p.Meta.Event != nil {
		c.take(*p.Meta.Event)
	}
	if c.over {
		c.Late++
	}
	n := len(c.Events)
	in.mu.Unlock()
	if c.onEvent != nil {
		c.onEvent(n)
	}
}

// watch calls a tool and notes what came, as watch.mjs does.
func (in *inbox) watch(ctx context.Context, c kitClient, name string, arguments any, onEvent func(n int)) watched {
	in.mu.Lock()
	token, call := fmt.Sprintf("t%d", len(in.calls)), &inboxCall{onEvent: onEvent}
	in.calls[token] = call
	in.mu.Unlock()
	result, err := c.call(ctx, name, arguments, token)
	in.mu.Lock()
	call.over = true
	in.mu.Unlock()
	if err != nil {
		return in.seen(call, nil, err)
	}
	r, err := readResult(result)
	for range 300 { // an SDK may make its callbacks after the call: they are late, but not lost
		w, last := in.seen(call, r, err), uint64(0)
		if n := len(w.Events); n > 0 {
			last = w.Events[n-1].Seq
		}
		if err != nil || last+1 >= r.Seq {
			return w
		}
		time.Sleep(10 * time.Millisecond)
	}
	return in.seen(call, r, err)
}

// seen is what has come of the call so far.
func (in *inbox) seen(call *inboxCall, r *kitRunResult, err error) watched {
	in.mu.Lock()
	defer in.mu.Unlock()
	w := call.watched
	w.Events, w.Result = slices.Clone(w.Events), r
	if err != nil {
		w.Error = err.Error()
	}
	return w
}

// readResult reads what an SDK has of a tool's result, as watch.mjs does.
func readResult(result any) (*kitRunResult, error) {
	var r struct {
		IsError           bool
		StructuredContent *kitRunResult
		Content           []struct{ URI string }
		Meta              struct {
			Event json.RawMessage `json:"io.github.seed889630bf.lastword/event"`
		} `json:"_meta"`
	}
	data, err := json.Marshal(result)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	if err != nil || r.StructuredContent == nil {
		return &kitRunResult{}, errors.Join(err, errors.New("the result has no structured content"))
	}
	out := r.StructuredContent
	out.IsError, out.Terminal = r.IsError, r.Meta.Event
	for _, part := range r.Content {
		out.URI = cmp.Or(out.URI, part.URI)
	}
	return out, nil
}

// goAnswers takes a client through the scenarios of watch.mjs.
func goAnswers(t *testing.T, at kitTarget, dial dialer) []answer {
	t.Helper()
	ctx, in := t.Context(), &inbox{calls: map[string]*inboxCall{}}
	c := dialed(t, dial, in)
	answers := []answer{
		{Scenario: "connect", Version: c.version()},
		{Scenario: "stream", Runs: []watched{in.watch(ctx, c, "count", kitInput{N: 200}, nil)}},
		isolate(ctx, in, c),
		canceled(ctx, in, c),
	}
	first, run := attached(ctx, in, c)
	if at.transport == "http" { // a new connection; over stdio the process would go with it
		c.close()
		c = dialed(t, dial, in)
	}
	defer c.close()
	var cursor uint64
	if n := len(first.Events); n > 0 {
		cursor = first.Events[n-1].Seq
	}
	again := in.watch(ctx, c, "run_attach", map[string]any{"run_id": run, "after": cursor}, nil)
	answers = append(answers, answer{Scenario: "resume", Runs: []watched{first, again}})
	written := in.watch(ctx, c, "write", kitInput{Text: "kept"}, nil)
	if written.Result == nil || written.Result.URI == "" {
		t.Fatalf("nothing was written: %+v", written)
	}
	uri := written.Result.URI
	text, err := c.read(ctx, uri)
	must(t, err)
	return append(answers, answer{Scenario: "artifact", Runs: []watched{written}, Text: text, URI: uri},
		answer{Scenario: "crash", Runs: []watched{in.watch(ctx, c, "crash", kitInput{}, nil)}})
}

func dialed(t *testing.T, dial dialer, in *inbox) kitClient {
	t.Helper()
	c, err := dial(t.Context(), in)
	must(t, err)
	return c
}

func isolate(ctx context.Context, in *inbox, c kitClient) answer {
	runs := make([]watched, 4)
	var calls sync.WaitGroup
	for i := range runs {
		calls.Go(func() { runs[i] = in.watch(ctx, c, "count", kitInput{N: 50}, nil) })
	}
	calls.Wait()
	return answer{Scenario: "isolate", Runs: runs}
}

func canceled(ctx context.Context, in *inbox, c kitClient) answer {
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	w := in.watch(stop, c, "program", map[string]any{}, func(n int) {
		if n == 4 { // after the run's start comes what the program says
			cancel()
		}
	})
	a := answer{Scenario: "cancel", Runs: []watched{w}}
	if len(w.Events) == 0 {
		return a
	}
	end := in.watch(ctx, c, "run_wait", map[string]any{"run_id": w.Events[0].RunID, "wait_ms": 10000}, nil)
	if end.Result != nil {
		a.Status = end.Result.Status
	}
	return a
}

// attached starts a run by run_start, attaches to it, and leaves after 40 events.
func attached(ctx context.Context, in *inbox, c kitClient) (watched, messages.RunID) {
	started := in.watch(ctx, c, "run_start", map[string]any{"job": "count", "input": kitInput{N: 200, Pause: 2}}, nil)
	if started.Result == nil {
		return started, ""
	}
	run := started.Result.RunID
	leave, cancel := context.WithCancel(ctx)
	defer cancel()
	first := in.watch(leave, c, "run_attach", map[string]any{"run_id": run, "after": 0}, func(n int) {
		if n == 40 {
			cancel()
		}
	})
	return first, run
}

// sdkClient is the official Go SDK's.
type sdkClient struct{ session *sdk.ClientSession }

func dialSDK(at kitTarget) dialer {
	return func(ctx context.Context, in *inbox) (kitClient, error) {
		client := sdk.NewClient(&sdk.Implementation{Name: "kit", Version: "1"}, &sdk.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *sdk.ProgressNotificationClientRequest) { in.progress(r.Params) },
		})
		var wire sdk.Transport = &sdk.StreamableClientTransport{Endpoint: at.url}
		if at.transport == "stdio" {
			cmd := exec.Command(at.command)
			cmd.Env = at.env()
			wire = &sdk.CommandTransport{Command: cmd}
		}
		session, err := client.Connect(ctx, wire, nil)
		return sdkClient{session}, err
	}
}

func (c sdkClient) call(ctx context.Context, name string, arguments any, token string) (any, error) {
	return c.session.CallTool(ctx, &sdk.CallToolParams{Name: name, Arguments: arguments, Meta: sdk.Meta{"progressToken": token}})
}

func (c sdkClient) read(ctx context.Context, uri string) (string, error) {
	r, err := c.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		return "", err
	}
	return r.Contents[0].Text, nil
}

func (c sdkClient) version() string { return c.session.InitializeResult().ProtocolVersion }
func (c sdkClient) close()          { _ = c.session.Close() }

// mcpGoClient is mcp-go's.
type mcpGoClient struct{ *mcpgo.Client }

func dialMCPGo(at kitTarget) dialer {
	return func(ctx context.Context, in *inbox) (kitClient, error) {
		var wire transport.Interface = transport.NewStdio(at.command, at.env())
		if at.transport == "http" {
			http, err := transport.NewStreamableHTTP(at.url)
			if err != nil {
				return nil, err
			}
			wire = http
		}
		client := mcpgo.NewClient(wire)
		client.OnNotification(func(n mcp.JSONRPCNotification) { in.progress(n.Params) })
		if err := client.Start(ctx); err != nil {
			return nil, err
		}
		_, err := client.Initialize(ctx, mcp.InitializeRequest{Params: mcp.InitializeParams{
			ProtocolVersion: mcp.LATEST_PROTOCOL_VERSION, ClientInfo: mcp.Implementation{Name: "kit", Version: "1"}}})
		return mcpGoClient{client}, err
	}
}

func (c mcpGoClient) call(ctx context.Context, name string, arguments any, token string) (any, error) {
	return c.CallTool(ctx, mcp.CallToolRequest{Params: mcp.CallToolParams{Name: name, Arguments: arguments,
		Meta: &mcp.Meta{ProgressToken: token}}})
}

func (c mcpGoClient) read(ctx context.Context, uri string) (string, error) {
	r, err := c.ReadResource(ctx, mcp.ReadResourceRequest{Params: mcp.ReadResourceParams{URI: uri}})
	if err != nil {
		return "", err
	}
	if text, ok := r.Contents[0].(mcp.TextResourceContents); ok {
		return text.Text, nil
	}
	return "", errors.New("the resource is no text")
}

func (c mcpGoClient) version() string { return c.ProtocolVersion() }
func (c mcpGoClient) close()          { _ = c.Client.Close() }

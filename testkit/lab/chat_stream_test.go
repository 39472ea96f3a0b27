package lab_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/chat"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	api "github.com/seed889630bf/lastword/transport/http"
	"github.com/seed889630bf/lastword/transport/llm"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// A model sends a token every 100 ms. Each has reached every reader before the next is sent: through the client, the
// job and the doors, in a text and in the response of JSON.
func TestChatTokensReachEverySurface(t *testing.T) {
	for name, c := range map[string]struct{ input, before, after string }{
		"turn":       {input: `{"message":"Count."}`},
		"stages":     {input: `{"message":"Count.","stages":true}`},
		"structured": {`{"message":"Count.","stages":true,"output":"structured"}`, `{"response":"`, `","citations":[],"confidence":"high"}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { (&counting{T: t}).count(c.input, c.before, c.after) })
		})
	}
}

const countedTokens = 20

// counting is runs of a model that counts, and how many tokens each reader has got.
type counting struct {
	*testing.T
	read    sync.WaitGroup
	mu      sync.Mutex
	readers map[string]*atomic.Int64
}

func (w *counting) count(input, before, after string) {
	w.readers = map[string]*atomic.Int64{}
	models := piped(w.T, func(rw http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		rw.Header().Set("Content-Type", "text/event-stream")
		w.answer(rw, before, after)
	})
	client, err := llm.New(llm.Config{BaseURL: "http://model/v1", Transport: models.Transport})
	if err != nil {
		w.Fatal(err)
	}
	talk := chat.Define(func(chat.Input) (chat.Config, error) { return chat.Config{Stream: client.Stream}, nil })
	talk.Models = nil // callers of the tool are programs: they may say all of the input
	system, err := actors.New(w.Context(), actors.Config{Jobs: []actors.Definition{talk}})
	if err != nil {
		w.Fatal(err)
	}
	tools := mcp.New(mcp.Config{Runs: system, Name: "kit", Version: "1"})
	if err := tools.AddJob(mcp.JobTool{Job: chat.Name}); err != nil {
		w.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/", api.New(door.New(door.Config{Runs: system, Version: "1"})))
	mux.Handle("/mcp", tools)
	doors := piped(w.T, mux.ServeHTTP)
	w.watch(system, doors, input)
	w.read.Wait()
	for reader, got := range w.readers {
		if n := got.Load(); n != countedTokens {
			w.Errorf("%s got %d tokens", reader, n)
		}
	}
	doors.CloseIdleConnections()
	models.CloseIdleConnections()
	tools.Close()
	if err := system.Close(context.Background()); err != nil {
		w.Error(err)
	}
}

// answer sends the tokens of a run, each 100 ms after the one before, which all readers must have.
func (w *counting) answer(rw http.ResponseWriter, before, after string) {
	send := func(text string) {
		data, _ := json.Marshal(text)
		fmt.Fprintf(rw, "data: {\"choices\":[{\"delta\":{\"content\":%s}}]}\n\n", data)
		rw.(http.Flusher).Flush()
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(time.Second) // the readers come
	send(before)
	for n := range countedTokens {
		w.mu.Lock()
		for reader, got := range w.readers {
			if have := got.Load(); have < int64(n) { // the other runs may be at their token of this moment
				w.Errorf("token %d is sent, and %s has only %d", n, reader, have)
			}
		}
		w.mu.Unlock()
		send(fmt.Sprintf("%d ", n))
	}
	send(after)
	fmt.Fprint(rw, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// watch calls the tool in both eras of MCP, and reads a third run on every other surface.
func (w *counting) watch(system *actors.System, doors *http.Client, input string) {
	id, err := system.Submit(w.Context(), messages.Request{Job: chat.Name, Input: json.RawMessage(input)})
	if err != nil {
		w.Fatal(err)
	}
	w.reader("Go", func(got func([]byte)) error {
		for e, err := range system.Events(w.Context(), id, 0) {
			if err != nil {
				return err
			}
			data, _ := json.Marshal(e)
			got(data)
		}
		return nil
	})
	for _, accept := range []string{"text/event-stream", "application/x-ndjson"} {
		w.reader(accept, func(got func([]byte)) error {
			r, _ := http.NewRequestWithContext(w.Context(), http.MethodGet, "http://door/v1/runs/"+string(id)+"/events", nil)
			r.Header.Set("Accept", accept)
			response, err := doors.Do(r)
			if err != nil {
				return err
			}
			defer response.Body.Close()
			return pieces(response.Body, got)
		})
	}
	w.reader("WebSocket", func(got func([]byte)) error {
		socket, _, err := websocket.Dial(w.Context(), "ws://door/v1/ws", &websocket.DialOptions{HTTPClient: doors})
		if err != nil {
			return err
		}
		defer socket.CloseNow()
		err = socket.Write(w.Context(), websocket.MessageText, []byte(`{"op":"subscribe","id":"a","run":"`+string(id)+`"}`))
		for err == nil {
			var data []byte
			if _, data, err = socket.Read(w.Context()); bytes.Contains(data, []byte("run.completed")) {
				return nil
			}
			got(data)
		}
		return err
	})
	for _, e := range []era{session, modern} {
		w.reader("MCP "+string(e), func(got func([]byte)) error {
			c := &rawHTTP{url: "http://door/mcp", era: e, client: doors}
			if e == session {
				response, err := c.post(w.Context(), []byte(initialize), "")
				if err != nil {
					return err
				}
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				c.session = response.Header.Get("Mcp-Session-Id")
			}
			return c.call(1, chat.Name, input, got)
		})
	}
}

// reader counts the tokens in what a surface gives to got.
func (w *counting) reader(name string, read func(got func([]byte)) error) {
	tokens := new(atomic.Int64)
	w.mu.Lock()
	w.readers[name] = tokens
	w.mu.Unlock()
	w.read.Go(func() {
		if err := read(func(data []byte) { tokens.Add(int64(bytes.Count(data, []byte(`"text.delta"`)))) }); err != nil {
			w.Errorf("%s: %v", name, err)
		}
	})
}

// pieces gives what a body brings, as it comes.
func pieces(body io.Reader, got func([]byte)) error {
	lines := make([]byte, 64<<10)
	for {
		n, err := body.Read(lines)
		got(lines[:n])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// piped is a client of a server that answers by handle, over connections in memory: virtual time passes while both
// wait.
func piped(t *testing.T, handle http.HandlerFunc) *http.Client {
	conns := make(chan net.Conn)
	ctx, stop := context.WithCancel(context.Background())
	server := &http.Server{Handler: handle}
	go func() { _ = server.Serve(pipeListener{conns, ctx}) }()
	t.Cleanup(func() { stop(); server.Close() })
	dial := func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		conns <- theirs
		return ours, nil
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial}}
}

type pipeListener struct {
	conns chan net.Conn
	ctx   context.Context
}

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}
func (l pipeListener) Close() error   { return nil }
func (l pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

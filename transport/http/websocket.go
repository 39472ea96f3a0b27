package http

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

const (
	// maxSubscriptions bounds the subscriptions of a connection.
	maxSubscriptions = 256
	// defaultCredit and maxCredit bound the events of a subscription that the client has not acknowledged.
	defaultCredit = 256
	maxCredit     = 1 << 16
	// maxMessage bounds what a client sends at once, in bytes.
	maxMessage = 1 << 20
)

// command is what a client sends. docs/http.md describes each.
type command struct {
	Op string `json:"op"`
	// ID is the client's own name for the subscription or the command; answers repeat it.
	ID  string         `json:"id"`
	Run messages.RunID `json:"run"`

	// Of subscribe.
	After    json.RawMessage `json:"after"`
	Kinds    []messages.Kind `json:"kinds"`
	Streams  []string        `json:"streams"`
	Level    string          `json:"level"`
	Rate     float64         `json:"rate"`
	Tree     bool            `json:"tree"`
	Snapshot bool            `json:"snapshot"`
	Credit   int             `json:"credit"`

	// Of ack: how many more events the client has read.
	Events int `json:"events"`

	// Of start, cancel and answer.
	Start   *start          `json:"start"`
	Key     string          `json:"key"`
	Reason  string          `json:"reason"`
	Request string          `json:"request"`
	Value   json.RawMessage `json:"value"`
}

// reply is what the server sends besides events.
type reply struct {
	Op      string             `json:"op"`
	ID      string             `json:"id,omitempty"`
	Cursor  cursorText         `json:"cursor,omitempty"`
	State   *messages.State    `json:"state,omitempty"`
	Runs    []messages.Summary `json:"runs,omitempty"`
	Problem *auth.Problem      `json:"problem,omitempty"`
}

// connection is one WebSocket.
type connection struct {
	server      *Server
	ws          *websocket.Conn
	ctx         context.Context
	traceparent string // of the request that opened it

	mu            sync.Mutex
	subscriptions map[string]*subscription
	done          sync.WaitGroup
}

// serveWebSocket follows many runs on one connection.
func (s *Server) serveWebSocket(w http.ResponseWriter, r *http.Request, _ *struct{}) {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		auth.Refuse(w, messages.Errorf(auth.CodeBadRequest, "this path takes WebSockets alone"))
		return
	}
	// Package auth has checked the origin.
	ws, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // it has answered
	}
	defer ws.CloseNow()
	ws.SetReadLimit(maxMessage)
	ctx, cancel := context.WithCancelCause(r.Context())
	c := &connection{server: s, ws: ws, ctx: ctx, traceparent: r.Header.Get(messages.TraceLabel),
		subscriptions: map[string]*subscription{}}
	defer c.done.Wait()
	defer cancel(nil)
	defer s.onDrain(ctx, func() { c.close(websocket.StatusServiceRestart, errDraining) })()
	defer context.AfterFunc(r.Context(), func() { c.close(websocket.StatusPolicyViolation, context.Cause(r.Context())) })()
	c.done.Go(c.ping)
	c.read()
}

// close ends the connection; its reader ends then.
func (c *connection) close(code websocket.StatusCode, why error) { _ = c.ws.Close(code, why.Error()) }

// ping finds connections whose client has vanished.
func (c *connection) ping() {
	tick := time.NewTicker(c.server.config.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
		ctx, cancel := context.WithTimeout(c.ctx, c.server.config.WriteTimeout)
		err := c.ws.Ping(ctx)
		cancel()
		if err != nil {
			_ = c.ws.CloseNow()
			return
		}
	}
}

// read carries out commands until the client leaves.
func (c *connection) read() {
	for {
		kind, data, err := c.ws.Read(c.ctx)
		switch {
		case err != nil:
			return
		case kind != websocket.MessageText:
			_ = c.ws.Close(websocket.StatusUnsupportedData, "messages are JSON texts")
			return
		}
		var in command
		if err := json.Unmarshal(data, &in); err != nil {
			c.refuse("", auth.NewProblem(auth.CodeBadRequest, "the message is not JSON of a command: "+err.Error()))
			continue
		}
		if err := c.execute(in); err != nil {
			c.refuse(in.ID, err)
		}
	}
}

func (c *connection) execute(in command) error {
	switch in.Op {
	case "subscribe":
		return c.subscribe(in)
	case "unsubscribe":
		return c.unsubscribe(in.ID)
	case "ack":
		return c.acknowledge(in.ID, in.Events)
	case "start", "cancel", "answer":
		if err := auth.Require(c.ctx, auth.WriteRuns); err != nil {
			return err
		}
		c.done.Go(func() { c.change(in) }) // a journal may take its time
		return nil
	default:
		return messages.InvalidInput("there is no op %.100q; use subscribe, ack, unsubscribe, start, cancel or answer",
			in.Op)
	}
}

// change starts, cancels or answers a run, and replies with its State.
func (c *connection) change(in command) {
	id, err := c.carryOut(in)
	if err != nil {
		c.refuse(in.ID, err)
		return
	}
	state, err := c.server.config.Runs.State(c.ctx, id)
	if err != nil {
		c.refuse(in.ID, err)
		return
	}
	c.send(reply{Op: "reply", ID: in.ID, State: &state})
}

func (c *connection) carryOut(in command) (messages.RunID, error) {
	runs := c.server.config.Runs
	if in.Op == "start" {
		if in.Start == nil {
			return "", messages.InvalidInput("start needs a start object with a job and its input")
		}
		q, err := c.server.request(c.ctx, *in.Start, c.traceparent)
		if err != nil {
			return "", err
		}
		q.Key = in.Key
		return runs.Submit(c.ctx, q) // an attached run ends with the connection
	}
	if _, err := c.server.run(c.ctx, in.Run); err != nil {
		return "", err
	}
	caller := auth.From(c.ctx).Name
	if in.Op == "cancel" {
		return in.Run, runs.Cancel(c.ctx, in.Run, caller, in.Reason)
	}
	return in.Run, runs.Answer(c.ctx, in.Run, in.Request, in.Value, caller)
}

func (c *connection) refuse(id string, err error) {
	c.send(reply{Op: "problem", ID: id, Problem: auth.ProblemOf(err)})
}

func (c *connection) send(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		data, _ = json.Marshal(reply{Op: "problem", Problem: auth.ProblemOf(err)}) // strings and numbers
	}
	c.write(data)
}

// write sends a message. A client that does not read it in time loses the connection.
func (c *connection) write(data []byte) {
	ctx, cancel := context.WithTimeout(c.ctx, c.server.config.WriteTimeout)
	defer cancel()
	_ = c.ws.Write(ctx, websocket.MessageText, c.server.config.Redact(data)) // the reader sees that the connection is closed
}

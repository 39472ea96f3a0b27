package http

import (
	"encoding/json"
	"net/http"
	"sync"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

const (
	// maxSubscriptions is the maximum number of subscriptions of one connection.
	maxSubscriptions = 256
	// defaultCredit and maxCredit bound the events of a subscription that the client has not yet acknowledged.
	defaultCredit = 256
	maxCredit     = 1 << 16
)

// command is a message from a client. docs/http.md describes each.
type command struct {
	Op string `json:"op"`
	// ID is the client's name for the subscription or the command. Replies repeat it.
	ID  string         `json:"id"`
	Run messages.RunID `json:"run"`

	// Members of "subscribe".
	After    json.RawMessage `json:"after"`
	Kinds    []messages.Kind `json:"kinds"`
	Streams  []string        `json:"streams"`
	Level    string          `json:"level"`
	Rate     float64         `json:"rate"`
	Tree     bool            `json:"tree"`
	Snapshot bool            `json:"snapshot"`
	Credit   int             `json:"credit"`
	Done     string          `json:"done"`

	// Events, of "ack", is how many more events the client has read.
	Events int `json:"events"`

	// Members of "start", "cancel" and "answer".
	Start   *start          `json:"start"`
	Key     string          `json:"key"`
	Reason  string          `json:"reason"`
	Request string          `json:"request"`
	Value   json.RawMessage `json:"value"`
	// Say is the message of a say: its name, mode and content.
	Say messages.Said `json:"say"`
}

// reply is a message from the server other than events.
type reply struct {
	Op      string             `json:"op"`
	ID      string             `json:"id,omitempty"`
	Cursor  cursorText         `json:"cursor,omitempty"`
	State   *messages.State    `json:"state,omitempty"`
	Runs    []messages.Summary `json:"runs,omitempty"`
	Problem *auth.Problem      `json:"problem,omitempty"`
}

// connection is one WebSocket. mu guards subscriptions.
type connection struct {
	*Server
	socket *door.Socket

	mu            sync.Mutex
	subscriptions map[string]*subscription
}

// serveWebSocket accepts a WebSocket, on which a client can follow many runs.
func (s *Server) serveWebSocket(w http.ResponseWriter, r *http.Request, _ *struct{}) error {
	return s.Socket(w, r, func(socket *door.Socket) func([]byte) {
		c := &connection{Server: s, socket: socket, subscriptions: map[string]*subscription{}}
		return c.read
	})
}

// read executes a command.
func (c *connection) read(message []byte) {
	var in command
	err := json.Unmarshal(message, &in)
	if err != nil {
		err = messages.Errorf(auth.CodeBadRequest, "the message is not JSON of a command: %v", err)
	} else {
		err = c.execute(in)
	}
	if err != nil {
		c.refuse(in.ID, err)
	}
}

// execute runs a command. Commands that write to the journal run beside the reading of further ones.
func (c *connection) execute(in command) error {
	switch in.Op {
	case "subscribe":
		return c.subscribe(in)
	case "unsubscribe":
		return c.unsubscribe(in.ID)
	case "ack":
		return c.acknowledge(in.ID, in.Events)
	case "start", "cancel", "answer", "say":
		c.socket.Call(func() { c.change(in) }) // the journal may be slow
		return nil
	default:
		return messages.InvalidInput("there is no op %.100q; use subscribe, ack, unsubscribe, start, cancel, answer or say", in.Op)
	}
}

// change starts, cancels, answers or tells a run something, and replies with its State.
func (c *connection) change(in command) {
	id, err := in.Run, error(nil)
	switch ctx := c.socket.Context; in.Op {
	case "start":
		if in.Start == nil {
			in.Start = &start{}
		}
		id, err = c.Start(ctx, in.Start.request(in.Key)) // an attached run ends with the connection
	case "cancel":
		err = c.Cancel(ctx, id, in.Reason)
	case "answer":
		err = c.Answer(ctx, door.Client, id, in.Request, in.Value)
	case "say":
		_, err = c.Say(ctx, door.Client, id, in.Say)
	}
	var state messages.State
	if err == nil {
		state, err = c.Runs.State(c.socket.Context, id)
	}
	if err != nil {
		c.refuse(in.ID, err)
		return
	}
	c.send(reply{Op: "reply", ID: in.ID, State: &state})
}

func (c *connection) refuse(id string, err error) {
	c.send(reply{Op: "problem", ID: id, Problem: auth.ProblemOf(err)})
}

// send sends a message. An error means that the connection is closed, which its reader notices.
func (c *connection) send(v any) {
	data, err := json.Marshal(v)
	if err != nil {
		data, _ = json.Marshal(reply{Op: "problem", Problem: auth.ProblemOf(err)}) // has only strings and numbers
	}
	_ = c.socket.Send(data)
}

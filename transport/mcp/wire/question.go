package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/messages/words"
)

// ask is a request of ours that waits for the client's answer.
type ask struct {
	x      *Exchange
	answer chan message // one, unless it is closed because the exchange has its own answer
}

// ask sends the client a request on the exchange's stream and waits for its answer. Only clients of the protocol with
// sessions can be asked, and only for what they said they can.
func (x *Exchange) ask(ctx context.Context, method mcp.MCPMethod, params, into any) error {
	if err := x.askable(method); err != nil {
		return err
	}
	id, a := x.session.expect(x)
	defer x.session.forget(id)
	if err := x.request(id, string(method), params); err != nil {
		return err
	}
	var void <-chan struct{}
	if set := x.void.Load(); set != nil {
		void = *set
	}
	select {
	case <-void:
		x.takeBack(id, "the answer is not needed any more")
		return errVoid
	case m, ok := <-a.answer:
		if !ok {
			return errEnded
		}
		return m.read(method, into)
	case <-ctx.Done():
		x.takeBack(id, "the request that asked was cancelled")
		return context.Cause(ctx)
	}
}

// errVoid: a question was taken back before it had an answer.
var errVoid = errors.New("the answer is not needed any more")

// AskUntil has what the exchange asks its client from now on taken back when done is closed. Who elicited is given a
// result without an action then.
func (x *Exchange) AskUntil(done <-chan struct{}) { x.void.Store(&done) }

func (x *Exchange) askable(method mcp.MCPMethod) error {
	if x.session == nil {
		return server.ErrServerInitiatedRequestUnsupported
	}
	if !x.out.takesEvents() {
		return errors.New("the client does not accept the event stream that it would be asked on")
	}
	capabilities := x.session.client().capabilities
	can := capabilities.Elicitation != nil
	switch method {
	case mcp.MethodSamplingCreateMessage:
		can = capabilities.Sampling != nil
	case mcp.MethodListRoots:
		can = capabilities.Roots != nil
	}
	if !can {
		return fmt.Errorf("the client did not say that it supports %s", method)
	}
	return nil
}

func (x *Exchange) request(id, method string, params any) error {
	if r := x.relay.Load(); r != nil {
		r.settle()
	}
	f, err := callFrame(id, method, params)
	if err != nil {
		return err
	}
	defer f.free()
	return x.write(f)
}

// takeBack tells the client that its answer is not waited for any more, whether or not it still waits for ours.
func (x *Exchange) takeBack(id, reason string) {
	f, err := callFrame("", string(mcp.MethodNotificationCancelled),
		map[string]any{"requestId": json.RawMessage(id), "reason": reason})
	if err != nil {
		return
	}
	defer f.free()
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.answered {
		_ = x.out.send(f, false)
	}
}

// expect mints the id of a request. That it is answered by this session's client alone makes it safe to be guessed.
func (s *Session) expect(x *Exchange) (id string, a *ask) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.asks == nil {
		s.asks = map[string]*ask{}
	}
	s.asked++
	id = `"ask-` + strconv.FormatUint(s.asked, 10) + `"`
	a = &ask{x: x, answer: make(chan message, 1)}
	s.asks[id] = a
	return id, a
}

func (s *Session) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.asks, id)
}

// answered gives the client's answer to whom it is for; what nobody waits for is dropped.
func (s *Session) answered(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.asks[string(m.id)]; a != nil {
		delete(s.asks, string(m.id))
		a.answer <- m
	}
}

// withdraw takes back what the exchange still asks.
func (s *Session) withdraw(x *Exchange) {
	s.mu.Lock()
	var open []string
	for id, a := range s.asks {
		if a.x == x {
			open = append(open, id)
			delete(s.asks, id)
			close(a.answer)
		}
	}
	s.mu.Unlock()
	for _, id := range open {
		x.takeBack(id, "the request that asked has ended")
	}
}

func (m *message) read(method mcp.MCPMethod, into any) error {
	if m.fault == nil || string(m.fault) == "null" {
		return json.Unmarshal(m.result, into)
	}
	var e mcp.JSONRPCErrorDetails
	if err := json.Unmarshal(m.fault, &e); err != nil {
		return fmt.Errorf("the client refused %s", method)
	}
	return fmt.Errorf("the client refused %s: %s (%d)", method, words.Clip(e.Message, 200), e.Code)
}

package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/internal/jsonrpc"
	"github.com/seed889630bf/lastword/internal/words"
)

// question is a request of the server that waits for the client's answer.
type question struct {
	x      *Exchange
	answer chan message // gets one message, or is closed when the exchange is answered
}

// Ask sends the client a request on the exchange's stream, and decodes the answer into a value. Only clients with
// sessions can be asked, and only for capabilities that they declared. When ctx is done, the client is told that the
// answer is not needed any more.
func (x *Exchange) Ask(ctx context.Context, method mcp.MCPMethod, params, into any) error {
	switch {
	case x.session == nil:
		return server.ErrServerInitiatedRequestUnsupported
	case !x.out.takesEvents():
		return errors.New("the client does not accept event streams, which questions need")
	}
	capabilities := x.session.client().capabilities
	if method == mcp.MethodSamplingCreateMessage && capabilities.Sampling == nil ||
		method == mcp.MethodElicitationCreate && capabilities.Elicitation == nil {
		return fmt.Errorf("the client did not declare that it supports %s", method)
	}
	id, a := x.session.addQuestion(x)
	defer x.session.removeQuestion(id)
	message, err := encode(jsonrpc.RPCMessage{ID: json.RawMessage(id), Method: string(method), Params: params})
	if err != nil {
		return err
	}
	place := "" // from where the question is asked again
	if at := x.place.Load(); at != nil {
		place = *at
	}
	if err := x.write(place, message); err != nil {
		return err
	}
	select {
	case m, ok := <-a.answer:
		if !ok {
			return errEnded
		}
		return m.read(method, into)
	case <-ctx.Done():
		x.withdraw(id, "the answer is not needed any more")
		return context.Cause(ctx)
	}
}

// withdraw tells the client that the answer is not needed any more.
func (x *Exchange) withdraw(id, reason string) {
	message, err := encode(jsonrpc.RPCMessage{Method: methodCancelled, Params: map[string]any{"requestId": json.RawMessage(id), "reason": reason}})
	if err != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.answered {
		_ = x.out.send("", message)
	}
}

// addQuestion registers a question and returns its id. The id has a part of this process's own, so that a late answer to
// a question of an earlier process answers no other.
func (s *Session) addQuestion(x *Exchange) (id string, a *question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.questions == nil {
		s.questions = map[string]*question{}
	}
	s.asked++
	id = `"ask-` + s.server.epoch + "-" + strconv.FormatUint(s.asked, 10) + `"`
	a = &question{x: x, answer: make(chan message, 1)}
	s.questions[id] = a
	return id, a
}

func (s *Session) removeQuestion(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.questions, id)
}

// resolve passes the client's answer to the waiting Ask. It drops an answer for which nobody waits.
func (s *Session) resolve(m message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.questions[string(m.id)]; a != nil {
		delete(s.questions, string(m.id))
		a.answer <- m
	}
}

// withdrawAll withdraws the exchange's open questions.
func (s *Session) withdrawAll(x *Exchange) {
	s.mu.Lock()
	var open []string
	for id, a := range s.questions {
		if a.x == x {
			open = append(open, id)
			delete(s.questions, id)
			close(a.answer)
		}
	}
	s.mu.Unlock()
	for _, id := range open {
		x.withdraw(id, "the request that asked has ended")
	}
}

// read decodes the result of an answer, or returns its error.
func (m *message) read(method mcp.MCPMethod, into any) error {
	if m.fault == nil || string(m.fault) == "null" {
		return json.Unmarshal(m.result, into)
	}
	return refusal{method, m.fault}
}

// refusal is a JSON-RPC error with which a client has answered a request.
type refusal struct {
	method mcp.MCPMethod
	fault  json.RawMessage
}

// RPC returns the error as the client wrote it.
func (r refusal) RPC() json.RawMessage { return r.fault }

func (r refusal) Error() string {
	var e mcp.JSONRPCErrorDetails
	if err := json.Unmarshal(r.fault, &e); err != nil {
		return fmt.Sprintf("the client refused %s", r.method)
	}
	return fmt.Sprintf("the client refused %s: %s (%d)", r.method, words.Clip(e.Message, 200), e.Code)
}

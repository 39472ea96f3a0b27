package mcp

import (
	"context"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/gate"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

const resourceUpdated = "notifications/resources/updated"

type subscribeParams struct {
	URI string `json:"uri"`
}

// subscribe answers resources/subscribe: the session is told when the resource changes, until it unsubscribes or ends.
func (s *Server) subscribe(ctx context.Context, x *wire.Exchange) (any, error) {
	p, err := s.subscription(ctx, x)
	if err != nil {
		return nil, err
	}
	if err := s.hear(ctx, s.hub.session(x.Session()), p.URI); err != nil {
		return nil, noResource(x, p.URI, err)
	}
	return struct{}{}, nil
}

func (s *Server) unsubscribe(ctx context.Context, x *wire.Exchange) (any, error) {
	p, err := s.subscription(ctx, x)
	if err != nil {
		return nil, err
	}
	sub := s.hub.session(x.Session())
	s.forgetFiles(sub, s.hub.filesOf(ctx, p.URI))
	if t, ok := s.hub.topicOf(p.URI); ok {
		s.hub.remove(sub, t)
	}
	return struct{}{}, nil
}

// subscription reads the parameters of both.
func (s *Server) subscription(ctx context.Context, x *wire.Exchange) (subscribeParams, error) {
	if x.Modern() || x.Session() == nil {
		return subscribeParams{}, caller.NoMethod()
	}
	if err := caller.May(ctx, gate.ReadRuns); err != nil {
		return subscribeParams{}, caller.RPCError(err)
	}
	p, err := caller.Params[subscribeParams](x)
	if err == nil && p.URI == "" {
		err = caller.Invalid("a subscription needs the uri of a resource")
	}
	if err != nil {
		return p, caller.RPCError(err)
	}
	return p, nil
}

// hear subscribes to the resource, if the caller may see it.
func (s *Server) hear(ctx context.Context, sub *subscriber, uri string) error {
	if len(uri) > maxURI {
		return messages.Errorf(messages.Code(messages.CauseLimitExceeded), "the uri has %d bytes, and may have %d",
			len(uri), maxURI)
	}
	if topics := s.hub.filesOf(ctx, uri); len(topics) > 0 {
		return s.hearFiles(ctx, sub, topics)
	}
	t, ok := s.hub.topicOf(uri)
	if !ok {
		return messages.Errorf(messages.CodeNotFound, "there is no resource %s", uri)
	}
	if t.run == "" {
		return s.hub.add(sub, t, messages.State{})
	}
	state, err := s.Run(ctx, t.run)
	if err != nil {
		return err
	}
	return s.hub.add(sub, t, state)
}

// noResource is the error for a resource that is not there for the caller, whoever else may see it.
func noResource(x *wire.Exchange, uri string, err error) error {
	if messages.CodeOf(err) != messages.CodeNotFound {
		return caller.RPCError(err)
	}
	return caller.NoResource(x, uri)
}

// session returns the session's subscriber, which ends with it.
func (h *hub) session(session *wire.Session) *subscriber {
	h.mu.Lock()
	defer h.mu.Unlock()
	if sub := h.sessions[session]; sub != nil {
		return sub
	}
	var sub *subscriber
	sub = newSubscriber(func(ctx context.Context, t topic) { h.tellSession(ctx, session, sub, t) })
	h.sessions[session] = sub
	go func() {
		sub.pump(context.Background(), session.Done())
		h.leave(session, sub)
	}()
	return sub
}

func (h *hub) leave(session *wire.Session, sub *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	sub.gone = true
	h.dropLocked(sub)
	delete(h.sessions, session)
}

// tellSession tells a client with a session of the change. It is lost where the client has no stream open to hear it:
// that is the protocol's.
func (h *hub) tellSession(ctx context.Context, session *wire.Session, sub *subscriber, t topic) {
	if t.uri != "" {
		_ = session.Notify(resourceUpdated, subscribeParams{t.uri})
		return
	}
	state, err := h.server.runs.State(ctx, t.run)
	if err != nil {
		return
	}
	_ = session.Notify("notifications/tasks/status", h.server.tasks.Legacy(state))
	if state.Status.IsEnded() {
		h.remove(sub, t)
	}
}

// reportTask has the session told of the task that it made. Being told is a courtesy: one with too many subscriptions
// asks.
func (h *hub) reportTask(session *wire.Session, state messages.State) {
	if session != nil {
		_ = h.add(h.session(session), topic{source: source{run: state.RunID}}, state)
	}
}

package subscription

import (
	"context"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

const resourceUpdated = "notifications/resources/updated"

// maxURI is the most bytes of a URI that is subscribed to: it is kept as long as the subscription.
const maxURI = 4 << 10

type subscribeParams struct {
	URI string `json:"uri"`
}

// subscribe answers resources/subscribe: the session is notified when the resource changes, until it unsubscribes or
// ends.
func (h *Hub) subscribe(ctx context.Context, x *wire.Exchange) (any, error) {
	p, err := h.params(ctx, x)
	if err != nil {
		return nil, err
	}
	err = h.subscribeTo(ctx, h.session(x.Session()), p.URI)
	if messages.CodeOf(err) == messages.CodeNotFound {
		return nil, caller.NoResource(x, p.URI)
	}
	if err != nil {
		return nil, caller.RPCError(err)
	}
	return struct{}{}, nil
}

func (h *Hub) unsubscribe(ctx context.Context, x *wire.Exchange) (any, error) {
	p, err := h.params(ctx, x)
	if err != nil {
		return nil, err
	}
	sub := h.session(x.Session())
	h.remove(sub, h.filesOf(ctx, p.URI)...)
	if t, ok := h.topicOf(p.URI); ok {
		h.remove(sub, t)
	}
	return struct{}{}, nil
}

// params reads the parameters of both.
func (h *Hub) params(ctx context.Context, x *wire.Exchange) (subscribeParams, error) {
	if x.Modern() || x.Session() == nil {
		return subscribeParams{}, caller.NoMethod()
	}
	if err := caller.Require(ctx, auth.ReadRuns); err != nil {
		return subscribeParams{}, caller.RPCError(err)
	}
	p, err := caller.Params[subscribeParams](x)
	if err == nil && p.URI == "" {
		err = messages.InvalidInput("a subscription needs the uri of a resource")
	}
	if err != nil {
		return p, caller.RPCError(err)
	}
	return p, nil
}

// subscribeTo subscribes to the resource, if the caller may see it.
func (h *Hub) subscribeTo(ctx context.Context, sub *subscriber, uri string) error {
	if len(uri) > maxURI {
		return messages.Errorf(messages.Code(messages.CauseLimitExceeded), "the uri has %d bytes, and may have %d",
			len(uri), maxURI)
	}
	if topics := h.filesOf(ctx, uri); len(topics) > 0 {
		return h.subscribeToFiles(ctx, sub, topics)
	}
	t, ok := h.topicOf(uri)
	if !ok {
		return messages.Errorf(messages.CodeNotFound, "there is no resource %s", uri)
	}
	if t.run == "" {
		return h.add(sub, t, messages.State{})
	}
	state, err := h.runs.Own(ctx, t.run)
	if err != nil {
		return err
	}
	return h.add(sub, t, state)
}

// subscribeToFiles subscribes to the topics of a file, all or none. Runs that begin later are for Started to tell of:
// what is not listed here is not begun.
func (h *Hub) subscribeToFiles(ctx context.Context, sub *subscriber, topics []topic) error {
	for _, t := range topics {
		if err := h.add(sub, t, messages.State{}); err != nil {
			h.remove(sub, topics...)
			return err
		}
	}
	begun := []messages.Status{messages.Pending, messages.Processing}
	active, err := h.runs.ListOwn(ctx, messages.Query{Status: begun, Limit: 1000})
	if err != nil {
		h.remove(sub, topics...)
		return err
	}
	for _, run := range active {
		if state, err := h.runs.Own(ctx, run.RunID); err == nil {
			h.Started(state)
		}
	}
	return nil
}

// session returns the session's subscriber, which ends with it.
func (h *Hub) session(session *wire.Session) *subscriber {
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
		h.endSession(session, sub)
	}()
	return sub
}

func (h *Hub) endSession(session *wire.Session, sub *subscriber) {
	h.close(sub)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, session)
}

// tellSession notifies a session of the change. The notification is lost if the client has no stream open: so the
// protocol has it.
func (h *Hub) tellSession(ctx context.Context, session *wire.Session, sub *subscriber, t topic) {
	if t.uri != "" {
		_ = session.Notify(resourceUpdated, subscribeParams{t.uri})
		return
	}
	state, err := h.runs.State(ctx, t.run)
	if err != nil {
		return
	}
	_ = session.Notify("notifications/tasks/status", h.config.Tasks.Legacy(state))
	if state.Status.IsEnded() {
		h.remove(sub, t)
	}
}

// ReportTask notifies the session of the status of the task that it made. That is a courtesy: a session with too many
// subscriptions has to ask.
func (h *Hub) ReportTask(session *wire.Session, run messages.State) {
	if session != nil {
		_ = h.add(h.session(session), topic{source: source{run: run.RunID}}, run)
	}
}

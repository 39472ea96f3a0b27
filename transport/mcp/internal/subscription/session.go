package subscription

import (
	"context"
	"errors"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

const resourceUpdated = "notifications/resources/updated"

// maxURI is the maximum length, in bytes, of a URI in a subscription, which the server keeps.
const maxURI = 4 << 10

type subscribeParams struct {
	URI string `json:"uri"`
}

// subscribe handles resources/subscribe: the session is notified of changes of the resource until it unsubscribes or
// ends, also after a restart.
func (h *Hub) subscribe(ctx context.Context, x *wire.Exchange) (any, error) {
	p, err := h.params(ctx, x)
	if err != nil {
		return nil, err
	}
	err = h.subscribeTo(ctx, h.session(ctx, x.Session()), p.URI)
	if err == nil {
		err = x.Session().Subscribe(ctx, p.URI, true)
	}
	if messages.CodeOf(err) == messages.CodeNotFound {
		err = wire.NoResource(x, p.URI)
	}
	return struct{}{}, err
}

// unsubscribe handles resources/unsubscribe.
func (h *Hub) unsubscribe(ctx context.Context, x *wire.Exchange) (any, error) {
	p, err := h.params(ctx, x)
	if err != nil {
		return nil, err
	}
	topics := h.filesOf(p.URI)
	if t, ok := h.topicOf(p.URI); ok {
		topics = append(topics, t)
	}
	h.session(ctx, x.Session()).remove(topics...)
	return struct{}{}, x.Session().Subscribe(ctx, p.URI, false)
}

// Restore subscribes a restored session to the resources again. It notifies of each, because it may have changed in the
// meantime.
func (h *Hub) Restore(ctx context.Context, session *wire.Session, uris []string) {
	sub := h.session(ctx, session)
	for _, uri := range uris {
		if h.subscribeTo(ctx, sub, uri) == nil { // otherwise it has ended
			sub.mark(func(t topic) bool { return t.uri == uri })
		}
	}
}

// params decodes and checks the parameters of both methods.
func (h *Hub) params(ctx context.Context, x *wire.Exchange) (subscribeParams, error) {
	if x.Modern() || x.Session() == nil {
		return subscribeParams{}, wire.NoMethod()
	}
	if err := wire.Require(ctx, auth.ReadRuns); err != nil {
		return subscribeParams{}, err
	}
	p, err := wire.Params[subscribeParams](x)
	if err == nil && p.URI == "" {
		err = messages.InvalidInput("a subscription needs the uri of a resource")
	}
	return p, err
}

// subscribeTo subscribes to the resource if the caller may see it.
func (h *Hub) subscribeTo(ctx context.Context, sub *subscriber, uri string) error {
	if len(uri) > maxURI {
		return messages.LimitExceeded("the uri has %d bytes, and may have %d", len(uri), maxURI)
	}
	if topics := h.filesOf(uri); len(topics) > 0 {
		return h.subscribeToFiles(ctx, sub, topics)
	}
	t, ok := h.topicOf(uri)
	if !ok {
		return messages.Errorf(messages.CodeNotFound, "there is no resource %s", uri)
	}
	if t.run == "" {
		return sub.add(t, nil)
	}
	return h.subscribeToRun(ctx, sub, t)
}

// subscribeToRun subscribes to a run of the caller.
func (h *Hub) subscribeToRun(ctx context.Context, sub *subscriber, t topic) error {
	state, err := h.runs.Own(ctx, t.run)
	if err == nil {
		err = sub.add(t, &state)
	}
	return err
}

// subscribeToFiles subscribes to the topics of a file, to all or to none. It follows the caller's active runs, which
// may write the file. [Hub.Started] adds those that start later.
func (h *Hub) subscribeToFiles(ctx context.Context, sub *subscriber, topics []topic) (err error) {
	for _, t := range topics {
		err = errors.Join(err, sub.add(t, nil))
	}
	var active []messages.Summary
	if err == nil {
		begun := []messages.Status{messages.Pending, messages.Processing}
		active, err = h.runs.List(ctx, messages.Query{Status: begun, Limit: 1000})
	}
	if err != nil {
		sub.remove(topics...)
		return err
	}
	for _, run := range active {
		if state, err := h.runs.Own(ctx, run.RunID); err == nil {
			h.Started(state)
		}
	}
	return nil
}

// session returns the session's subscriber, and creates it if necessary. It ends with the session.
func (h *Hub) session(ctx context.Context, session *wire.Session) *subscriber {
	h.mu.Lock()
	defer h.mu.Unlock()
	if sub := h.sessions[session]; sub != nil {
		return sub
	}
	sub := h.newSubscriber(context.Background(), auth.From(ctx).Name, nil)
	sub.tell = func(ctx context.Context, t topic) { h.tellSession(ctx, session, sub, t) }
	h.sessions[session] = sub
	go func() {
		sub.pump(session.Life().Done())
		h.endSession(session, sub)
	}()
	return sub
}

// endSession removes the subscriptions of a session that has ended.
func (h *Hub) endSession(session *wire.Session, sub *subscriber) {
	h.close(sub)
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, session)
}

// tellSession notifies a session of a change. As the protocol says, the notification is lost if the client has no
// stream open.
func (h *Hub) tellSession(ctx context.Context, session *wire.Session, sub *subscriber, t topic) {
	if t.uri != "" {
		_ = session.Notify(resourceUpdated, subscribeParams{t.uri})
		return
	}
	state, err := h.runs.State(ctx, t.run)
	if err != nil {
		return
	}
	_ = session.Notify("notifications/tasks/status", h.config.LegacyTask(state))
	if state.Status.IsEnded() {
		sub.remove(t)
	}
}

// ReportTask notifies the session of the status of a task that it created. It is best effort: a session with too many
// subscriptions must ask by itself.
func (h *Hub) ReportTask(ctx context.Context, session *wire.Session, run messages.State) {
	if session == nil {
		return
	}
	_ = h.session(ctx, session).add(topic{run: run.RunID}, &run)
}

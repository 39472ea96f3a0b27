package subscription

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

// filter says which changes a client asks for, or which it will get.
type filter struct {
	mcp.SubscriptionFilter
	Tasks []messages.RunID `json:"taskIds,omitempty"`
}

// lists returns the notifications of the lists that the filter asks for.
func (f filter) lists() []string {
	var methods []string
	for method, wanted := range map[string]bool{
		mcp.MethodNotificationToolsListChanged:     f.ToolsListChanged,
		mcp.MethodNotificationPromptsListChanged:   f.PromptsListChanged,
		mcp.MethodNotificationResourcesListChanged: f.ResourcesListChanged,
	} {
		if wanted {
			methods = append(methods, method)
		}
	}
	return methods
}

// listener serves one subscriptions/listen request.
type listener struct {
	hub     *Hub
	x       *wire.Exchange
	meta    map[string]any            // identifies the stream; sent with every message
	elicits bool                      // the client can be asked
	shown   map[messages.RunID]string // the state of each task in the last notification
	sub     *subscriber
}

// listen answers subscriptions/listen: it sends what was established, then each change, until the client closes the
// stream.
func (h *Hub) listen(ctx context.Context, x *wire.Exchange) (any, error) {
	if !x.Modern() {
		return nil, wire.NoMethod()
	}
	p, err := wire.Params[struct {
		Notifications filter `json:"notifications"`
	}](x)
	switch f := p.Notifications; {
	case err != nil:
	case len(f.Tasks) > 0 && !x.Extension(wire.TasksExtension):
		return nil, wire.NeedsTasks()
	case len(f.ResourceSubscriptions)+len(f.Tasks) > maxTopics:
		err = tooMany()
	default:
		err = wire.Require(ctx, auth.ReadRuns)
	}
	if err != nil {
		return nil, err
	}
	l := &listener{hub: h, x: x, meta: map[string]any{mcp.MetaKeySubscriptionID: x.ID()}, elicits: x.Elicits(),
		shown: map[messages.RunID]string{}}
	h.mu.Lock()
	l.sub = h.newSubscriber(ctx, auth.From(ctx).Name, l.tell)
	h.mu.Unlock()
	defer h.close(l.sub)
	established := l.establish(ctx, p.Notifications) // before the acknowledgement, so that no later change is missed
	ack := map[string]any{"notifications": established, "_meta": l.meta}
	if l.x.Notify(mcp.MethodNotificationSubscriptionsAcknowledged, ack) == nil && !(established.IsEmpty() && len(established.Tasks) == 0) {
		l.sub.pump(nil)
	}
	return map[string]any{"_meta": l.meta}, nil
}

// establish subscribes to what the caller may see, and returns that. It leaves out what does not exist or belongs to
// others. It notifies the client once of the current state of each task, so that nothing since the task's start is
// missed.
func (l *listener) establish(ctx context.Context, f filter) filter {
	out := f
	out.ResourceSubscriptions, out.Tasks = nil, nil
	for _, method := range f.lists() {
		_ = l.sub.add(topic{method: method}, nil) // lists are few, so the limit is not reached
	}
	for _, uri := range f.ResourceSubscriptions {
		if l.hub.subscribeTo(ctx, l.sub, uri) == nil {
			out.ResourceSubscriptions = append(out.ResourceSubscriptions, uri)
		}
	}
	for _, id := range f.Tasks {
		t := topic{run: id}
		if l.hub.subscribeToRun(ctx, l.sub, t) == nil {
			out.Tasks = append(out.Tasks, id)
			l.sub.mark(func(own topic) bool { return own == t })
		}
	}
	return out
}

// tell notifies the client of a change of the topic.
func (l *listener) tell(ctx context.Context, t topic) {
	switch {
	case t.method != "":
		_ = l.x.Notify(t.method, map[string]any{"_meta": l.meta})
	case t.uri != "":
		_ = l.x.Notify(resourceUpdated, map[string]any{"uri": t.uri, "_meta": l.meta})
	default:
		l.tellTask(ctx, t.run)
	}
}

// tellTask notifies the client of a task that has changed since the last notification.
func (l *listener) tellTask(ctx context.Context, id messages.RunID) {
	state, err := l.hub.runs.State(ctx, id)
	if err != nil {
		return
	}
	d := l.hub.config.Tasks.Detailed(ctx, state, l.elicits)
	now := string(d.Status) + " " + strings.Join(slices.Sorted(maps.Keys(d.Inputs)), " ")
	if l.shown[id] == now {
		return
	}
	l.shown[id] = now
	d.Meta = l.meta
	_ = l.x.Notify("notifications/tasks", d)
}

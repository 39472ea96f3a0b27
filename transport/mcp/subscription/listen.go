package subscription

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// filter says which changes a client asks for, or gets.
type filter struct {
	Tools     bool             `json:"toolsListChanged,omitempty"`
	Prompts   bool             `json:"promptsListChanged,omitempty"`
	Resources bool             `json:"resourcesListChanged,omitempty"`
	URIs      []string         `json:"resourceSubscriptions,omitempty"`
	Tasks     []messages.RunID `json:"taskIds,omitempty"`
}

// lists are the notifications of the lists that were asked for.
func (f filter) lists() []string {
	var methods []string
	for method, wanted := range map[string]bool{
		mcp.MethodNotificationToolsListChanged:     f.Tools,
		mcp.MethodNotificationPromptsListChanged:   f.Prompts,
		mcp.MethodNotificationResourcesListChanged: f.Resources,
	} {
		if wanted {
			methods = append(methods, method)
		}
	}
	return methods
}

func (f filter) empty() bool { return len(f.lists())+len(f.URIs)+len(f.Tasks) == 0 }

// listener is one subscriptions/listen.
type listener struct {
	hub     *Hub
	x       *wire.Exchange
	meta    map[string]any // names the stream; on every message of it
	elicits bool
	shown   map[messages.RunID]string // how each task stood in the last notification
	sub     *subscriber
}

// listen answers subscriptions/listen: first what was established, then each change, until the client ends the
// stream.
func (h *Hub) listen(ctx context.Context, x *wire.Exchange) (any, error) {
	if !x.Modern() {
		return nil, caller.NoMethod()
	}
	p, err := caller.Params[struct {
		Notifications filter `json:"notifications"`
	}](x)
	switch f := p.Notifications; {
	case err != nil:
	case len(f.Tasks) > 0 && !x.Extension(caller.TasksExtension):
		return nil, caller.NeedsTasks()
	case len(f.URIs)+len(f.Tasks) > maxTopics:
		err = tooMany()
	default:
		err = caller.Require(ctx, auth.ReadRuns)
	}
	if err != nil {
		return nil, caller.RPCError(err)
	}
	l := &listener{hub: h, x: x, meta: map[string]any{mcp.MetaKeySubscriptionID: x.ID()}, elicits: x.Elicits(),
		shown: map[messages.RunID]string{}}
	l.sub = newSubscriber(l.tell)
	defer h.close(l.sub)
	l.serve(ctx, p.Notifications)
	return map[string]any{"_meta": l.meta}, nil
}

// serve subscribes before it acknowledges: no change after that is missed.
func (l *listener) serve(ctx context.Context, f filter) {
	established := l.establish(ctx, f)
	if lists := established.lists(); len(lists) > 0 {
		defer l.hub.broadcasts(ctx, l.sub, lists)()
	}
	ack := map[string]any{"notifications": established, "_meta": l.meta}
	if l.x.Notify(mcp.MethodNotificationSubscriptionsAcknowledged, ack) != nil || established.empty() {
		return
	}
	l.sub.pump(ctx, nil)
}

// establish subscribes to what the caller may see, and returns it: what is somebody else's is left out, like what is
// not there. It notifies once of each task as it stands, so that nothing is missed between its start and now.
func (l *listener) establish(ctx context.Context, f filter) filter {
	out := filter{Tools: f.Tools, Prompts: f.Prompts, Resources: f.Resources}
	for _, uri := range f.URIs {
		if l.hub.subscribeTo(ctx, l.sub, uri) == nil {
			out.URIs = append(out.URIs, uri)
		}
	}
	for _, id := range f.Tasks {
		t := topic{source: source{run: id}}
		state, err := l.hub.runs.Own(ctx, id)
		if err == nil && l.hub.add(l.sub, t, state) == nil {
			out.Tasks = append(out.Tasks, id)
			l.sub.mark(t)
		}
	}
	return out
}

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

// tellTask notifies of a task that stands otherwise than in the last notification.
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

// broadcasts marks for the subscriber what mcp-go broadcasts of the methods, until the returned function is called.
func (h *Hub) broadcasts(ctx context.Context, sub *subscriber, methods []string) (stop func()) {
	b := &broadcast{id: rand.Text(), heard: make(chan mcp.JSONRPCNotification, 16)}
	if h.config.MCP.RegisterSession(ctx, b) != nil {
		return func() {}
	}
	ctx, end := context.WithCancel(ctx)
	go func() {
		for {
			select {
			case n := <-b.heard:
				if slices.Contains(methods, n.Method) {
					sub.mark(topic{method: n.Method})
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		h.config.MCP.UnregisterSession(ctx, b.id)
		end()
	}
}

// broadcast is a session as mcp-go knows them, that hears what is for all.
type broadcast struct {
	id    string
	heard chan mcp.JSONRPCNotification
}

func (b *broadcast) Initialize()                                         {}
func (b *broadcast) Initialized() bool                                   { return true }
func (b *broadcast) NotificationChannel() chan<- mcp.JSONRPCNotification { return b.heard }
func (b *broadcast) SessionID() string                                   { return b.id }

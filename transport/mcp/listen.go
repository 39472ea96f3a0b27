package mcp

import (
	"context"
	"crypto/rand"
	"maps"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/gate"
	"github.com/seed889630bf/lastword/transport/mcp/caller"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// wishes are what a client asks to be told on a stream, and what of it was established.
type wishes struct {
	Tools     bool             `json:"toolsListChanged,omitempty"`
	Prompts   bool             `json:"promptsListChanged,omitempty"`
	Resources bool             `json:"resourcesListChanged,omitempty"`
	URIs      []string         `json:"resourceSubscriptions,omitempty"`
	Tasks     []messages.RunID `json:"taskIds,omitempty"`
}

// lists are the notifications of the lists that were asked for.
func (w wishes) lists() []string {
	var methods []string
	for method, wanted := range map[string]bool{
		mcp.MethodNotificationToolsListChanged:     w.Tools,
		mcp.MethodNotificationPromptsListChanged:   w.Prompts,
		mcp.MethodNotificationResourcesListChanged: w.Resources,
	} {
		if wanted {
			methods = append(methods, method)
		}
	}
	return methods
}

func (w wishes) empty() bool { return len(w.lists())+len(w.URIs)+len(w.Tasks) == 0 }

// stream is one subscriptions/listen.
type stream struct {
	server  *Server
	x       *wire.Exchange
	meta    map[string]any // names the stream; on every message of it
	elicits bool
	told    map[messages.RunID]string // how each task stood when it was told last
	sub     *subscriber
}

// listen answers subscriptions/listen: first what was established, then each change, until the client ends the stream.
func (s *Server) listen(ctx context.Context, x *wire.Exchange) (any, error) {
	if !x.Modern() {
		return nil, caller.NoMethod()
	}
	p, err := caller.Params[struct {
		Notifications wishes `json:"notifications"`
	}](x)
	switch w := p.Notifications; {
	case err != nil:
	case len(w.Tasks) > 0 && !x.Extension(caller.TasksExtension):
		return nil, caller.NeedsTasks()
	case len(w.URIs)+len(w.Tasks) > maxTopics:
		err = tooMany()
	default:
		err = caller.May(ctx, gate.ReadRuns)
	}
	if err != nil {
		return nil, caller.RPCError(err)
	}
	l := &stream{server: s, x: x, meta: map[string]any{mcp.MetaKeySubscriptionID: x.ID()}, elicits: x.Elicits(),
		told: map[messages.RunID]string{}}
	l.sub = newSubscriber(l.tell)
	defer s.hub.drop(l.sub)
	l.serve(ctx, p.Notifications)
	return map[string]any{"_meta": l.meta}, nil
}

// serve listens before it says so: what changes after that is told.
func (l *stream) serve(ctx context.Context, w wishes) {
	established := l.establish(ctx, w)
	if lists := established.lists(); len(lists) > 0 {
		defer l.server.broadcasts(ctx, l.sub, lists)()
	}
	ack := map[string]any{"notifications": established, "_meta": l.meta}
	if l.x.Notify(mcp.MethodNotificationSubscriptionsAcknowledged, ack) != nil || established.empty() {
		return
	}
	l.sub.pump(ctx, nil)
}

// establish subscribes to what the caller may see, and returns it: what is somebody else's is left out, like what is
// not there. Each task is told once as it stands, so that nothing is missed between its making and now.
func (l *stream) establish(ctx context.Context, w wishes) wishes {
	h := l.server.hub
	out := wishes{Tools: w.Tools, Prompts: w.Prompts, Resources: w.Resources}
	for _, uri := range w.URIs {
		if l.server.hear(ctx, l.sub, uri) == nil {
			out.URIs = append(out.URIs, uri)
		}
	}
	for _, id := range w.Tasks {
		t := topic{source: source{run: id}}
		state, err := l.server.Run(ctx, id)
		if err == nil && h.add(l.sub, t, state) == nil {
			out.Tasks = append(out.Tasks, id)
			l.sub.mark(t)
		}
	}
	return out
}

func (l *stream) tell(ctx context.Context, t topic) {
	switch {
	case t.method != "":
		_ = l.x.Notify(t.method, map[string]any{"_meta": l.meta})
	case t.uri != "":
		_ = l.x.Notify(resourceUpdated, map[string]any{"uri": t.uri, "_meta": l.meta})
	default:
		l.tellTask(ctx, t.run)
	}
}

// tellTask tells how the task stands where that is not what was told last.
func (l *stream) tellTask(ctx context.Context, id messages.RunID) {
	state, err := l.server.runs.State(ctx, id)
	if err != nil {
		return
	}
	d := l.server.tasks.Detailed(ctx, state, l.elicits)
	now := string(d.Status) + " " + strings.Join(slices.Sorted(maps.Keys(d.Inputs)), " ")
	if l.told[id] == now {
		return
	}
	l.told[id] = now
	d.Meta = l.meta
	_ = l.x.Notify("notifications/tasks", d)
}

// broadcasts marks for the subscriber what mcp-go broadcasts of the methods, until the returned function is called.
func (s *Server) broadcasts(ctx context.Context, sub *subscriber, methods []string) (stop func()) {
	b := &everybody{id: rand.Text(), heard: make(chan mcp.JSONRPCNotification, 16)}
	if s.mcp.RegisterSession(ctx, b) != nil {
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
		s.mcp.UnregisterSession(ctx, b.id)
		end()
	}
}

// everybody is a session as mcp-go knows them, that hears what is for all.
type everybody struct {
	id    string
	heard chan mcp.JSONRPCNotification
}

func (b *everybody) Initialize()                                         {}
func (b *everybody) Initialized() bool                                   { return true }
func (b *everybody) NotificationChannel() chan<- mcp.JSONRPCNotification { return b.heard }
func (b *everybody) SessionID() string                                   { return b.id }

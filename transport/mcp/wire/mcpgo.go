package wire

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"go.uber.org/zap"
)

// view is what mcp-go calls a client session. Each request has its own, so that what mcp-go sends to "the client of
// this context" goes to the request's stream. A session has one too, for broadcasts and notifications.
type view struct {
	session *Session  // nil for versions without sessions
	x       *Exchange // nil for the session's own view
}

func (v *view) SessionID() string {
	if v.x != nil {
		return v.x.name
	}
	return v.session.id
}

func (v *view) Initialize() {
	if v.session != nil {
		v.session.initialized.Store(true)
	}
}

func (v *view) Initialized() bool { return v.session == nil || v.session.initialized.Load() }

// NotificationChannel returns nil while no stream is open: nothing can be sent to it.
func (v *view) NotificationChannel() chan<- mcp.JSONRPCNotification {
	if v.x != nil {
		return v.x.channel()
	}
	v.session.mu.Lock()
	defer v.session.mu.Unlock()
	if v.session.stream == nil {
		return nil
	}
	return v.session.stream.broadcasts
}

func (v *view) GetLogLevel() mcp.LoggingLevel {
	if v.session != nil {
		return v.session.client().level
	}
	return mcp.LoggingLevelInfo
}

func (v *view) SetLogLevel(level mcp.LoggingLevel) { v.update(func(c *client) { c.level = level }) }

func (v *view) GetClientInfo() mcp.Implementation {
	if v.session != nil {
		return v.session.client().info
	}
	if info := v.x.info.Load(); info != nil {
		return *info
	}
	return mcp.Implementation{}
}

func (v *view) SetClientInfo(info mcp.Implementation) {
	if v.session == nil {
		v.x.info.Store(&info)
	}
	v.update(func(c *client) { c.info = info })
}

func (v *view) GetClientCapabilities() mcp.ClientCapabilities {
	if v.session != nil {
		return v.session.client().capabilities
	}
	return v.x.Capabilities()
}

func (v *view) SetClientCapabilities(capabilities mcp.ClientCapabilities) {
	if v.session == nil {
		v.x.capabilities.Store(&capabilities)
	}
	v.update(func(c *client) { c.capabilities = capabilities })
}

func (v *view) ProtocolVersion() string {
	if v.session != nil {
		return v.session.client().version
	}
	return v.x.Version()
}

// SetProtocolVersion is called by initialize only.
func (v *view) SetProtocolVersion(version string) { v.update(func(c *client) { c.version = version }) }

func (v *view) update(f func(c *client)) {
	if v.session != nil {
		v.session.mu.Lock()
		defer v.session.mu.Unlock()
		f(&v.session.known)
	}
}

// SubscriptionFilter lets nothing through before the filter is set.
func (v *view) SubscriptionFilter() (filter mcp.SubscriptionFilter, listens bool) {
	if v.x == nil {
		return filter, false
	}
	if set := v.x.filter.Load(); set != nil {
		filter = *set
	}
	return filter, v.x.listens
}

func (v *view) SetSubscriptionFilter(filter mcp.SubscriptionFilter) {
	if v.x != nil {
		v.x.filter.Store(&filter)
	}
}

func (v *view) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	result := new(mcp.ElicitationResult)
	if err := v.ask(ctx, mcp.MethodElicitationCreate, r.Params, result); err == errWithdrawn {
		return new(mcp.ElicitationResult), nil
	} else if err != nil {
		return nil, err
	}
	return result, nil
}

func (v *view) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	result := new(mcp.CreateMessageResult)
	if err := v.ask(ctx, mcp.MethodSamplingCreateMessage, r.CreateMessageParams, result); err != nil {
		return nil, err
	}
	content, err := mcp.ParseSamplingContent(result.Content)
	if err != nil {
		return nil, err
	}
	result.Content = content
	return result, nil
}

func (v *view) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	result := new(mcp.ListRootsResult)
	if err := v.ask(ctx, mcp.MethodListRoots, nil, result); err != nil {
		return nil, err
	}
	return result, nil
}

func (v *view) ask(ctx context.Context, method mcp.MCPMethod, params, into any) error {
	if v.x == nil {
		return server.ErrServerInitiatedRequestUnsupported
	}
	return v.x.ask(ctx, method, params, into)
}

// relayQueue is how many notifications of mcp-go wait. mcp-go drops one if the channel is full.
const relayQueue = 128

// relay passes what handlers send through mcp-go to the exchange's stream, in order. It is made at first use.
type relay struct {
	channel    chan mcp.JSONRPCNotification
	stop, done chan struct{}
}

// written marks a position in the channel. It is closed when everything before it is written.
type written chan struct{}

// channel returns where mcp-go sends one notification. mcp-go asks for it each time and drops what finds no room, so
// a handler blocks here for a slow client. A broadcast does not block: it only says that a list has changed, which
// those that fill the channel already say.
func (x *Exchange) channel() chan<- mcp.JSONRPCNotification {
	r := x.relay.Load()
	if r == nil {
		r = x.openRelay()
	}
	if r == nil {
		return nil
	}
	if !x.listens && len(r.channel) > relayQueue/2 {
		r.settle()
	}
	return r.channel
}

func (x *Exchange) openRelay() *relay {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.relay.Load(); r != nil || x.answered {
		return r
	}
	r := &relay{channel: make(chan mcp.JSONRPCNotification, relayQueue), stop: make(chan struct{}), done: make(chan struct{})}
	x.relay.Store(r)
	go r.run(x)
	return r
}

func (r *relay) run(x *Exchange) {
	defer close(r.done)
	for {
		select {
		case n := <-r.channel:
			if mark, ok := n.Params.AdditionalFields[""].(written); ok {
				close(mark)
				continue
			}
			x.forward(n)
		case <-r.stop:
			return
		}
	}
}

// settle returns when everything sent before is written, or the relay has ended.
func (r *relay) settle() {
	mark := make(written)
	n := mcp.JSONRPCNotification{}
	n.Params.AdditionalFields = map[string]any{"": mark}
	select {
	case r.channel <- n:
	case <-r.done:
		return
	}
	select {
	case <-mark:
	case <-r.done:
	}
}

func (r *relay) end() {
	close(r.stop)
	<-r.done
}

func (x *Exchange) forward(n mcp.JSONRPCNotification) {
	if x.listens {
		n.Params.Meta = maps.Clone(n.Params.Meta)
		if n.Params.Meta == nil {
			n.Params.Meta = map[string]any{}
		}
		n.Params.Meta[mcp.MetaKeySubscriptionID] = json.RawMessage(x.msg.id)
	}
	if err := x.notify(n.Method, paramsOf(n)); err != nil && x.ctx.Err() == nil {
		x.server.log.Warn("a notification was not sent", zap.String("method", n.Method), zap.Error(err))
	}
}

// paramsOf returns nil for a notification without parameters.
func paramsOf(n mcp.JSONRPCNotification) any {
	if n.Params.Meta == nil && n.Params.AdditionalFields == nil {
		return nil
	}
	return n.Params
}

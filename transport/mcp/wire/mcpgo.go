package wire

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"
)

// caller is the exchange as mcp-go sees it: a client's session, which every request has its own of, so that what is
// sent to "the client of this context" goes to the request's stream and nowhere else.
type caller Exchange

func (c *caller) exchange() *Exchange { return (*Exchange)(c) }

func (c *caller) SessionID() string { return c.name }

func (c *caller) Initialize() {
	if c.session != nil {
		c.session.initialized.Store(true)
	}
}

func (c *caller) Initialized() bool { return c.session == nil || c.session.initialized.Load() }

func (c *caller) NotificationChannel() chan<- mcp.JSONRPCNotification { return c.exchange().channel() }

func (c *caller) SetLogLevel(level mcp.LoggingLevel) {
	if c.session != nil {
		c.session.update(func(known *client) { known.level = level })
	}
}

func (c *caller) GetLogLevel() mcp.LoggingLevel {
	if c.session != nil {
		return c.session.client().level
	}
	return mcp.LoggingLevelInfo
}

func (c *caller) GetClientInfo() mcp.Implementation { return c.exchange().Client() }

func (c *caller) SetClientInfo(info mcp.Implementation) {
	if c.session == nil {
		c.info.Store(&info)
		return
	}
	c.session.update(func(known *client) { known.info = info })
}

func (c *caller) GetClientCapabilities() mcp.ClientCapabilities { return c.exchange().Capabilities() }

func (c *caller) SetClientCapabilities(capabilities mcp.ClientCapabilities) {
	if c.session == nil {
		c.capabilities.Store(&capabilities)
		return
	}
	c.session.update(func(known *client) { known.capabilities = capabilities })
}

func (c *caller) ProtocolVersion() string { return c.exchange().Version() }

// SetProtocolVersion is called by initialize alone.
func (c *caller) SetProtocolVersion(version string) {
	if c.session != nil {
		c.session.update(func(known *client) { known.version = version })
	}
}

// SubscriptionFilter lets nothing through before the filter is set.
func (c *caller) SubscriptionFilter() (mcp.SubscriptionFilter, bool) {
	if filter := c.filter.Load(); filter != nil {
		return *filter, c.listens
	}
	return mcp.SubscriptionFilter{}, c.listens
}

func (c *caller) SetSubscriptionFilter(filter mcp.SubscriptionFilter) { c.filter.Store(&filter) }

func (c *caller) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	result := new(mcp.ElicitationResult)
	err := c.exchange().ask(ctx, mcp.MethodElicitationCreate, r.Params, result)
	if err == errVoid {
		return new(mcp.ElicitationResult), nil
	}
	if err != nil {
		return nil, err
	}
	return result, nil
}

func (c *caller) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	result := new(mcp.CreateMessageResult)
	if err := c.exchange().ask(ctx, mcp.MethodSamplingCreateMessage, r.CreateMessageParams, result); err != nil {
		return nil, err
	}
	content, err := mcp.ParseSamplingContent(result.Content)
	if err != nil {
		return nil, err
	}
	result.Content = content
	return result, nil
}

func (c *caller) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	result := new(mcp.ListRootsResult)
	if err := c.exchange().ask(ctx, mcp.MethodListRoots, nil, result); err != nil {
		return nil, err
	}
	return result, nil
}

// listener is the session as mcp-go's broadcasts see it.
type listener Session

func (l *listener) session() *Session                 { return (*Session)(l) }
func (l *listener) SessionID() string                 { return l.id }
func (l *listener) Initialize()                       { l.initialized.Store(true) }
func (l *listener) Initialized() bool                 { return l.initialized.Load() }
func (l *listener) GetLogLevel() mcp.LoggingLevel     { return l.session().client().level }
func (l *listener) GetClientInfo() mcp.Implementation { return l.session().client().info }
func (l *listener) ProtocolVersion() string           { return l.session().client().version }
func (l *listener) SetLogLevel(level mcp.LoggingLevel) {
	l.session().update(func(c *client) { c.level = level })
}

func (l *listener) SetClientInfo(info mcp.Implementation) {
	l.session().update(func(c *client) { c.info = info })
}

func (l *listener) GetClientCapabilities() mcp.ClientCapabilities {
	return l.session().client().capabilities
}

func (l *listener) SetClientCapabilities(capabilities mcp.ClientCapabilities) {
	l.session().update(func(c *client) { c.capabilities = capabilities })
}

// NotificationChannel is nil, into which nothing can be sent, while nobody reads.
func (l *listener) NotificationChannel() chan<- mcp.JSONRPCNotification {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.push == nil {
		return nil
	}
	return l.push.broadcasts
}

// relayed is how many notifications mcp-go can hand over at once. mcp-go drops one that finds the channel full.
const relayed = 128

// relay takes what handlers send through mcp-go to the exchange's stream, in order. It is made when first asked for.
type relay struct {
	channel    chan mcp.JSONRPCNotification
	stop, done chan struct{}
}

// written marks a place in the channel; it is closed when all before it is written.
type written chan struct{}

// channel returns where mcp-go sends one notification. mcp-go asks for it each time and drops what finds no room, so it
// is here that a handler waits for a slow client. A broadcast waits for nobody: what it tells, that a list has changed,
// is told by those that fill the channel.
func (x *Exchange) channel() chan<- mcp.JSONRPCNotification {
	r := x.relay.Load()
	if r == nil {
		r = x.openRelay()
	}
	if r == nil {
		return nil
	}
	if !x.listens && len(r.channel) > relayed/2 {
		r.settle()
	}
	return r.channel
}

func (x *Exchange) openRelay() *relay {
	x.mu.Lock()
	defer x.mu.Unlock()
	if r := x.relay.Load(); r != nil || x.phase != answering {
		return r
	}
	r := &relay{channel: make(chan mcp.JSONRPCNotification, relayed), stop: make(chan struct{}), done: make(chan struct{})}
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

// settle returns when all that was sent before is written, or nothing will be any more.
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
	if err := x.notify(answering, n.Method, paramsOf(n)); err != nil && x.ctx.Err() == nil {
		x.server.log.Warn("a notification was not sent", zap.String("method", n.Method), zap.Error(err))
	}
}

// paramsOf is nil for a notification that has none.
func paramsOf(n mcp.JSONRPCNotification) any {
	if n.Params.Meta == nil && n.Params.AdditionalFields == nil {
		return nil
	}
	return n.Params
}

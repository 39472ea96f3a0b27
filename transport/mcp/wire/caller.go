package wire

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
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

package wire

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// view is what mcp-go calls a client session: what the client of a request said of itself, and the way to ask it.
// Nothing goes through its channel, where mcp-go drops and misroutes notifications: handlers call [Exchange.Notify].
type view struct{ x *Exchange }

func (v view) SessionID() string { return v.x.name }

func (v view) Initialize() {
	if s := v.x.session; s != nil {
		s.initialized.Store(true)
	}
}

func (v view) Initialized() bool { return v.x.session == nil || v.x.session.initialized.Load() }

func (v view) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }

func (v view) GetLogLevel() mcp.LoggingLevel {
	if s := v.x.session; s != nil {
		return s.client().level
	}
	return mcp.LoggingLevelInfo
}

func (v view) SetLogLevel(level mcp.LoggingLevel) { v.update(func(c *client) { c.level = level }) }

func (v view) GetClientInfo() mcp.Implementation { return mcp.Implementation{} }

func (v view) SetClientInfo(mcp.Implementation) {} // nobody asks

func (v view) GetClientCapabilities() mcp.ClientCapabilities { return v.x.Capabilities() }

func (v view) SetClientCapabilities(capabilities mcp.ClientCapabilities) {
	v.update(func(c *client) { c.capabilities = capabilities })
}

func (v view) ProtocolVersion() string { return v.x.Version() }

// SetProtocolVersion is called by initialize only.
func (v view) SetProtocolVersion(version string) { v.update(func(c *client) { c.version = version }) }

func (v view) update(f func(c *client)) {
	if s := v.x.session; s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		f(&s.known)
	}
}

func (v view) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	var result mcp.ElicitationResult
	return &result, v.x.Ask(ctx, mcp.MethodElicitationCreate, r.Params, &result)
}

func (v view) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	var result mcp.CreateMessageResult
	if err := v.x.Ask(ctx, mcp.MethodSamplingCreateMessage, r.CreateMessageParams, &result); err != nil {
		return nil, err
	}
	content, err := mcp.ParseSamplingContent(result.Content)
	result.Content = content
	return &result, err
}

var _ server.SessionWithClientInfo = view{}

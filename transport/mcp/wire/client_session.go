package wire

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// clientSession implements mcp-go's ClientSession: what the client declared, and how to ask it. Its notification
// channel is nil, because mcp-go drops and misroutes notifications there. Handlers call [Exchange.Notify] instead.
type clientSession struct{ x *Exchange }

func (v clientSession) SessionID() string { return v.x.name }

func (v clientSession) Initialize() {
	if s := v.x.session; s != nil {
		s.initialized.Store(true)
	}
}

func (v clientSession) Initialized() bool {
	return v.x.session == nil || v.x.session.initialized.Load()
}

func (v clientSession) NotificationChannel() chan<- mcp.JSONRPCNotification { return nil }

func (v clientSession) GetLogLevel() mcp.LoggingLevel {
	if s := v.x.session; s != nil {
		return s.client().level
	}
	return mcp.LoggingLevelInfo
}

func (v clientSession) SetLogLevel(level mcp.LoggingLevel) {
	v.update(func(c *client) { c.level = level })
}

func (v clientSession) GetClientInfo() mcp.Implementation { return mcp.Implementation{} }

func (v clientSession) SetClientInfo(mcp.Implementation) {} // never read

func (v clientSession) GetClientCapabilities() mcp.ClientCapabilities { return v.x.Capabilities() }

func (v clientSession) SetClientCapabilities(capabilities mcp.ClientCapabilities) {
	v.update(func(c *client) { c.capabilities = capabilities })
}

func (v clientSession) ProtocolVersion() string { return v.x.Version() }

// SetProtocolVersion is called only by initialize.
func (v clientSession) SetProtocolVersion(version string) {
	v.update(func(c *client) { c.version = version })
}

// update changes what is known of the client. Requests without a session keep nothing.
func (v clientSession) update(f func(c *client)) {
	if s := v.x.session; s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		f(&s.known)
	}
}

func (v clientSession) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	var result mcp.ElicitationResult
	return &result, v.x.Ask(ctx, mcp.MethodElicitationCreate, r.Params, &result)
}

func (v clientSession) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	var result mcp.CreateMessageResult
	if err := v.x.Ask(ctx, mcp.MethodSamplingCreateMessage, r.CreateMessageParams, &result); err != nil {
		return nil, err
	}
	content, err := mcp.ParseSamplingContent(result.Content)
	result.Content = content
	return &result, err
}

var _ server.SessionWithClientInfo = clientSession{}

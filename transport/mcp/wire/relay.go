package wire

import (
	"encoding/json"
	"maps"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"
)

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

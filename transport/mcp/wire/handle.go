package wire

import (
	"context"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"
)

// newExchange is an exchange in the context, whose values its handler's has. It ends by stop alone.
func (s *Server) newExchange(ctx context.Context, m message, session *Session, table *requestTable) *Exchange {
	x := &Exchange{server: s, session: session, table: table, msg: m, modern: session == nil}
	x.view = view{session, x}
	ctx, x.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	x.ctx = s.mcp.WithContext(ctx, &x.view)
	return x
}

// run has the request handled and answers it, whatever becomes of the handler.
func (x *Exchange) run() {
	finished := false
	defer x.unhold()
	defer func() {
		if !finished { // by a panic or runtime.Goexit
			x.server.log.Error("a handler crashed", zap.String("method", x.msg.method), zap.Any("panic", recover()),
				zap.Stack("stack"))
			x.finish(outcome{fail: internalError()})
		}
		x.cancel(errEnded)
	}()
	o := x.handle()
	finished = true
	x.finish(o)
}

func (x *Exchange) handle() outcome {
	if x.msg.batch != nil {
		return x.runBatch()
	}
	if method := x.server.config.Methods[x.msg.method]; method != nil {
		return x.callMethod(method)
	}
	if x.listens = x.modern && x.msg.method == string(mcp.MethodSubscriptionsListen); x.listens {
		// Registered, it is reached by mcp-go's broadcasts, through the filter that the client set.
		_ = x.server.mcp.RegisterSession(x.ctx, &x.view)
		defer x.server.mcp.UnregisterSession(x.ctx, x.name)
	}
	switch response := x.server.mcp.HandleMessage(x.ctx, x.msg.text).(type) {
	case mcp.JSONRPCResponse:
		return outcome{result: response.Result}
	case mcp.JSONRPCError:
		e := response.Error
		return outcome{fail: &Error{Code: e.Code, Message: e.Message, Data: e.Data}}
	}
	return outcome{fail: errorf(mcp.INVALID_REQUEST, "%s is not a request", x.msg.method)}
}

func (x *Exchange) callMethod(method Method) outcome {
	if x.modern {
		if fail := x.msg.meta.check(); fail != nil {
			return outcome{fail: fail}
		}
	}
	result, err := method(x.ctx, x)
	if fail, ok := errors.AsType[*Error](err); ok {
		return outcome{fail: fail}
	}
	if err == nil && x.modern {
		result, err = x.server.decorated(result)
	}
	if err != nil {
		x.server.log.Error("a method failed", zap.String("method", x.msg.method), zap.Error(err))
		return outcome{fail: internalError()}
	}
	return outcome{result: result}
}

// finish writes the answer, unless the client does not want it.
func (x *Exchange) finish(o outcome) {
	if instead := x.override.Load(); instead != nil {
		o = *instead
	}
	if r := x.relay.Load(); r != nil {
		r.settle()
		defer r.end()
	}
	if x.session != nil {
		x.session.withdraw(x)
	}
	f, err := answerFrame(x.msg.id, o)
	if err != nil {
		x.server.log.Error("a result is no JSON", zap.String("method", x.msg.method), zap.Error(err))
		o = outcome{fail: internalError()}
		f, _ = answerFrame(x.msg.id, o)
	}
	defer f.free()
	x.server.clean(f)
	x.answer(f, o)
}

// answer frees the request's id before the client can know that it is free.
func (x *Exchange) answer(f *frame, o outcome) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.table.remove(x.key)
	x.answered = true
	if x.silent.Load() {
		return
	}
	x.out.answer(f, o.fail)
}

// survive is deferred where a handler that panics has nobody to tell.
func (s *Server) survive(method string) {
	if v := recover(); v != nil {
		s.log.Error("a handler crashed", zap.String("method", method), zap.Any("panic", v), zap.Stack("stack"))
	}
}

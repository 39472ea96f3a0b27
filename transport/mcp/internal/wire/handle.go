package wire

import (
	"context"
	"errors"
	"strconv"

	"github.com/mark3labs/mcp-go/mcp"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
)

// newExchange returns an exchange. Its context has the values of ctx, but ends only by stop.
func (s *Server) newExchange(ctx context.Context, m message, session *Session, table *requestTable) *Exchange {
	number := strconv.FormatUint(s.requests.Add(1), 10)
	x := &Exchange{server: s, session: session, table: table, msg: m, modern: session == nil, key: string(m.id), name: "request-" + number}
	switch {
	case table == &s.modern:
		x.key = x.name // different clients may use the same ids
	case m.batch != nil:
		x.key = "batch-" + number // not JSON, so it equals no id
	}
	if session != nil {
		x.name = session.id
	}
	ctx, x.cancel = context.WithCancelCause(context.WithoutCancel(messages.WithTrace(ctx, m.meta.trace)))
	ctx = context.WithValue(ctx, exchangeKey{}, x)
	x.ctx = s.mcp.WithContext(ctx, clientSession{x})
	return x
}

// run handles the request and answers it, even if the handler panics.
func (x *Exchange) run() {
	finished := false
	defer func() {
		if !finished { // a panic or runtime.Goexit
			x.server.log.Error("a handler crashed", zap.String("method", x.msg.method), zap.Any("panic", recover()), zap.Stack("stack"))
			x.finish(outcome{fail: internalError()})
		}
		x.cancel(errEnded)
		x.server.answerBytes.Add(-x.held.Swap(0))
	}()
	o := x.handle()
	finished = true
	x.finish(o)
}

// handle runs the request and returns its outcome. The server's own methods go before mcp-go's.
func (x *Exchange) handle() outcome {
	if x.msg.batch != nil {
		return x.runBatch()
	}
	if x.msg.text == nil { // it continues a request whose stream broke
		return x.callMethod(x.server.config.Resume)
	}
	if method := x.server.config.Methods[x.msg.method]; method != nil {
		return x.callMethod(method)
	}
	result, err := x.Library()
	if _, http := x.out.(*response); err == nil && http && x.msg.method == methodInitialize {
		x.opened, err = x.session.name(x.ctx)
	}
	if err != nil {
		return x.outcomeOf(nil, err)
	}
	return outcome{result: result}
}

// Library has the mcp-go server handle the request, for a Method that adds to its result. The error is an *Error.
func (x *Exchange) Library() (result any, err error) {
	switch answer := x.server.mcp.HandleMessage(x.ctx, x.msg.text).(type) {
	case mcp.JSONRPCResponse:
		return answer.Result, nil
	case mcp.JSONRPCError:
		e := answer.Error
		if e.Code == mcp.INVALID_REQUEST { // the request was read before: its parameters are wrong
			e.Code = mcp.INVALID_PARAMS
		}
		return nil, &Error{Code: e.Code, Message: e.Message, Data: e.Data}
	}
	return nil, errorf(mcp.INVALID_REQUEST, "%s is not a request", x.msg.method)
}

// callMethod calls a method of the server. In the stateless protocol each request declares its client anew.
func (x *Exchange) callMethod(method Method) outcome {
	if x.modern {
		if fail := x.msg.meta.check(); fail != nil {
			return outcome{fail: fail}
		}
	}
	return x.outcomeOf(method(x.ctx, x))
}

// outcomeOf converts the result of a Method, and completes it for versions from 2026-07-28 on.
func (x *Exchange) outcomeOf(result any, err error) outcome {
	if fail, ok := errors.AsType[*Error](err); ok {
		return outcome{fail: fail}
	}
	if err == nil && x.modern {
		result, err = x.server.withModernFields(result)
	}
	if err != nil {
		x.server.log.Error("a method failed", zap.String("method", x.msg.method), zap.Error(err))
		return outcome{fail: internalError()}
	}
	return outcome{result: result}
}

// finish writes the answer, unless the client does not want it. It first frees the request's id, because the client may
// use it again as soon as it sees the answer.
func (x *Exchange) finish(o outcome) {
	if instead := x.override.Load(); instead != nil {
		o = *instead
	}
	if x.session != nil {
		x.session.withdrawAll(x)
	}
	message, err := encodeAnswer(x.msg.id, o)
	if err != nil {
		x.server.log.Error("a result cannot be encoded as JSON", zap.String("method", x.msg.method), zap.Error(err))
		o = outcome{fail: internalError()}
		message, _ = encodeAnswer(x.msg.id, o)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.table.remove(x)
	x.answered = true
	if !x.noAnswer.Load() {
		x.out.answer(message, o.fail)
	}
}

package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// call is one call of the model, with all its tries.
type call struct {
	client    *Client
	name      string // of the model
	request   openai.ChatCompletionRequest
	amendment amendment
	yield     func(model.Part, error) bool
	given     bool // a part has reached the consumer
	left      bool // the consumer takes no more
	began     time.Time
	release   context.CancelFunc // ends the context of all tries; a drain may take it over
}

// give hands a part to the consumer, unless it has left.
func (c *call) give(p model.Part) {
	c.given = true
	c.left = c.left || !c.yield(p, nil)
}

// run tries until an answer begins or there is no use in trying.
func (c *call) run(ctx context.Context) {
	limit := c.client.limits.Request
	late := messages.Errorf(messages.Code(messages.CauseDeadline), "the call took longer than %s", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	c.release = cancel
	defer func() { c.release() }()
	c.client.Settle()
	for number := 1; ; number++ {
		t := c.try(ctx)
		if c.left {
			t.close()
			return
		}
		end := t.end()
		c.log(number, end)
		pause, again := c.again(number, end)
		again = again && !t.hopeless
		if !again {
			c.yield(end, end.Verdict.Err())
			t.finish()
			return
		}
		t.close()
		if !sleep(ctx, pause) {
			end = t.judge(end, context.Cause(ctx))
			c.yield(end, end.Verdict.Err())
			return
		}
	}
}

// again says whether and when to try again. Nothing is tried twice of which a part has reached anyone.
func (c *call) again(number int, end model.End) (pause time.Duration, ok bool) {
	e := end.Evidence
	if number > c.client.config.retries() || e.Stopped != "" || c.given {
		return 0, false
	}
	switch end.Verdict.Cause {
	case messages.CauseTransportClosed:
		ok = true
	case messages.CauseProviderError:
		ok = e.Failure != nil && passing(statusOf(e)) && !final(e.Failure)
	}
	if e.Failure != nil {
		pause = time.Duration(e.Failure.RetryAfterMS) * time.Millisecond
	}
	return max(pause, backoff(number)), ok && pause <= c.client.limits.RetryAfter
}

// statusOf is the status of a failure: HTTP's, or the code of a frame that stands for one.
func statusOf(e model.Evidence) int {
	if e.Status >= 400 {
		return e.Status
	}
	code, _ := strconv.Atoi(e.Failure.Code)
	return code
}

// backoff doubles with each try, and is anywhere between its half and its whole.
func backoff(number int) time.Duration {
	most := min(backoffFirst<<min(number-1, 16), backoffMost)
	return most/2 + rand.N(most/2)
}

func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func (c *call) log(number int, end model.End) {
	logger := c.client.config.Logger
	if logger == nil {
		return
	}
	logger.Debug("model call", zap.String("model", c.name), zap.String("answered", end.Model),
		zap.String("host", c.client.base.Host), zap.Int("try", number), zap.Int("status", end.Evidence.Status),
		zap.Stringer("evidence", end.Evidence), zap.String("outcome", string(end.Verdict.Outcome)),
		zap.String("cause", string(end.Verdict.Cause)), zap.Duration("took", time.Since(c.began)))
}

// try is one request and what came of it.
type try struct {
	call     *call
	ctx      context.Context
	cancel   context.CancelCauseFunc
	exchange *exchange
	answer   *answer
	stream   *openai.ChatCompletionStream
	refused  error // go-openai did not send the request
	nobody   bool  // no server is there
	hopeless bool  // another try would fail the same
}

func (c *call) try(ctx context.Context) *try {
	ctx, cancel := context.WithCancelCause(ctx)
	t := &try{call: c, ctx: ctx, cancel: cancel}
	t.answer = newAnswer(c.began, c.client.config.Server.dialect(c.name, c.amendment.fields), c.give)
	t.exchange = &exchange{client: c.client, amendment: c.amendment, watch: watch(c.client.limits, cancel)}
	defer t.exchange.watch.stop()
	config := openai.DefaultConfig(c.client.key)
	config.BaseURL = c.client.base.String()
	config.HTTPClient = &http.Client{Transport: t.exchange, CheckRedirect: stay}
	stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(ctx, c.request)
	if err != nil {
		t.unsent(err)
		return t
	}
	t.stream = stream
	t.read()
	return t
}

// stay keeps a redirect from being followed: the key and the prompt are for the server that was named.
func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// unsent notes why there is no stream; what a server answered is in the evidence already.
func (t *try) unsent(err error) {
	x := t.exchange
	switch {
	case x.evidence.Status != 0 || x.over != nil:
	case !x.sent && t.ctx.Err() == nil:
		t.refused = err
	default:
		x.evidence.Read, t.nobody = t.call.client.unanswered(err)
		_, name := errors.AsType[*net.DNSError](err)
		_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
		t.hopeless = name || certificate || errors.Is(err, http.ErrSchemeMismatch) ||
			strings.Contains(x.evidence.Read, "malformed HTTP")
	}
}

// read takes the frames until the answer ends or the consumer leaves.
func (t *try) read() {
	for !t.call.left && t.exchange.evidence.Failure == nil {
		frame, err := t.stream.RecvRaw()
		if err != nil {
			t.ended(err)
			break
		}
		had := t.answer.output
		t.answer.add(frame)
		if t.answer.failed {
			t.exchange.evidence.Failure = t.call.client.failureIn(frame)
		}
		if !had && t.answer.output {
			t.exchange.watch.first()
		}
	}
	if !t.call.left {
		t.answer.close()
	}
}

// ended checks that go-openai saw the end that the body gave it; the evidence is the body's.
func (t *try) ended(err error) {
	if errors.Is(err, errEnded) || err == io.EOF && t.exchange.evidence.Done {
		return
	}
	t.exchange.evidence.Read = err.Error()
}

// end puts the End together and has it judged.
func (t *try) end() model.End {
	client, end := t.call.client, t.answer.end()
	if end.Model != t.call.name { // which is no secret
		end.Model = client.without(end.Model)
	}
	e := t.exchange.evidence
	e.Finish, e.FinishLast, e.Output = client.without(t.answer.finish), t.answer.finishLast, t.answer.output
	e.Read = client.without(e.Read)
	if e.Failure != nil {
		f := *e.Failure
		f.Message, f.Code = client.without(f.Message), client.without(f.Code)
		f.Type, f.Param = client.without(f.Type), client.without(f.Param)
		e.Failure = &f
	}
	end.Evidence = e
	return t.judge(end, context.Cause(t.ctx))
}

// judge has the evidence judged. What this side did comes before what it saw.
func (t *try) judge(end model.End, cause error) model.End {
	e := &end.Evidence
	switch {
	case cause != nil:
		e.Stopped, e.Read = stopped(cause), cause.Error()
	case t.exchange.over != nil:
		e.Stopped, e.Read = messages.CauseLimitExceeded, t.exchange.over.message
	case t.refused != nil:
		e.Stopped, e.Read = messages.CauseInvalidInput, "the request cannot be sent: "+t.refused.Error()
	}
	end.Verdict = model.Judge(t.call.client.profile(t.exchange.header), *e)
	if t.nobody && e.Stopped == "" {
		end.Verdict.Message = e.Read // nothing was open that could have been closed
	}
	return end
}

// stopped is why this side ended a call, by the cause of its context.
func stopped(cause error) messages.Cause {
	code := messages.Cause(messages.CodeOf(cause))
	for _, known := range messages.Causes() {
		if code == known {
			return known
		}
	}
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		return messages.CauseDeadline
	case errors.Is(cause, context.Canceled):
		return messages.CauseCanceledByUser
	}
	return messages.CauseError
}

// finish closes the last try of a call. What may come behind [DONE] is nothing that a consumer is to wait for.
func (t *try) finish() {
	if !t.exchange.evidence.Done {
		t.close()
		return
	}
	release := t.call.release
	t.call.release = func() {}
	t.call.client.drains.begin(func() {
		defer release()
		t.close()
	})
}

// close ends the request. A consumer that left, and a failure, leave the server in the middle of its answer: then the
// connection goes with it.
func (t *try) close() {
	if !t.exchange.evidence.Done || t.call.left {
		t.cancel(nil)
	}
	if t.stream != nil {
		t.stream.Close()
	}
	t.cancel(nil)
}

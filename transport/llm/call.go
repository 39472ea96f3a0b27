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
	emitted   bool // a part has reached the consumer
	abandoned bool // the consumer takes no more
	began     time.Time
	release   context.CancelFunc // ends the context of all tries; a drain may take it over
}

// give hands a part to the consumer, unless it has left.
func (c *call) emit(p model.Part) {
	c.emitted = true
	c.abandoned = c.abandoned || !c.yield(p, nil)
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
		t := c.attempt(ctx)
		if c.abandoned {
			t.close()
			return
		}
		end := t.end()
		c.log(number, end)
		pause, retry := c.retry(number, end)
		retry = retry && !t.permanent
		if !retry {
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
func (c *call) retry(number int, end model.End) (pause time.Duration, ok bool) {
	e := end.Evidence
	if number > c.client.config.retries() || e.Stopped != "" || c.emitted {
		return 0, false
	}
	switch end.Verdict.Cause {
	case messages.CauseTransportClosed:
		ok = true
	case messages.CauseProviderError:
		ok = e.Failure != nil && retryable(statusOf(e)) && !permanent(e.Failure)
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
type attempt struct {
	call       *call
	ctx        context.Context
	cancel     context.CancelCauseFunc
	exchange   *exchange
	answer     *answer
	stream     *openai.ChatCompletionStream
	unsendable error // go-openai did not send the request
	noServer   bool  // no server is there
	permanent  bool  // another try would fail the same
}

func (c *call) attempt(ctx context.Context) *attempt {
	ctx, cancel := context.WithCancelCause(ctx)
	t := &attempt{call: c, ctx: ctx, cancel: cancel}
	t.answer = newAnswer(c.began, c.client.config.Server.dialect(c.name, c.amendment.fields), c.emit)
	t.exchange = &exchange{client: c.client, amendment: c.amendment, watch: watch(c.client.limits, cancel)}
	defer t.exchange.watch.stop()
	config := openai.DefaultConfig(c.client.key)
	config.BaseURL = c.client.base.String()
	config.HTTPClient = &http.Client{Transport: t.exchange, CheckRedirect: noRedirect}
	stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(ctx, c.request)
	if err != nil {
		t.failed(err)
		return t
	}
	t.stream = stream
	t.read()
	return t
}

// stay keeps a redirect from being followed: the key and the prompt are for the server that was named.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// unsent notes why there is no stream; what a server answered is in the evidence already.
func (t *attempt) failed(err error) {
	x := t.exchange
	switch {
	case x.evidence.Status != 0 || x.exceeded != nil:
	case !x.sent && t.ctx.Err() == nil:
		t.unsendable = err
	default:
		x.evidence.Read, t.noServer = t.call.client.networkError(err)
		_, name := errors.AsType[*net.DNSError](err)
		_, certificate := errors.AsType[*tls.CertificateVerificationError](err)
		t.permanent = name || certificate || errors.Is(err, http.ErrSchemeMismatch) ||
			strings.Contains(x.evidence.Read, "malformed HTTP")
	}
}

// read takes the frames until the answer ends or the consumer leaves.
func (t *attempt) read() {
	for !t.call.abandoned && t.exchange.evidence.Failure == nil {
		frame, err := t.stream.RecvRaw()
		if err != nil {
			t.ended(err)
			break
		}
		had := t.answer.output
		t.answer.addFrame(frame)
		if t.answer.failed {
			t.exchange.evidence.Failure = t.call.client.failureIn(frame)
		}
		if !had && t.answer.output {
			t.exchange.watch.first()
		}
	}
	if !t.call.abandoned {
		t.answer.close()
	}
}

// ended checks that go-openai saw the end that the body gave it; the evidence is the body's.
func (t *attempt) ended(err error) {
	if errors.Is(err, errEnded) || err == io.EOF && t.exchange.evidence.Done {
		return
	}
	t.exchange.evidence.Read = err.Error()
}

// end puts the End together and has it judged.
func (t *attempt) end() model.End {
	client, end := t.call.client, t.answer.end()
	if end.Model != t.call.name { // which is no secret
		end.Model = client.redact(end.Model)
	}
	e := t.exchange.evidence
	e.Finish, e.FinishLast, e.Output = client.redact(t.answer.finish), t.answer.finishLast, t.answer.output
	e.Read = client.redact(e.Read)
	if e.Failure != nil {
		f := *e.Failure
		f.Message, f.Code = client.redact(f.Message), client.redact(f.Code)
		f.Type, f.Param = client.redact(f.Type), client.redact(f.Param)
		e.Failure = &f
	}
	end.Evidence = e
	return t.judge(end, context.Cause(t.ctx))
}

// judge has the evidence judged. What this side did comes before what it saw.
func (t *attempt) judge(end model.End, cause error) model.End {
	e := &end.Evidence
	switch {
	case cause != nil:
		e.Stopped, e.Read = stopped(cause), cause.Error()
	case t.exchange.exceeded != nil:
		e.Stopped, e.Read = messages.CauseLimitExceeded, t.exchange.exceeded.message
	case t.unsendable != nil:
		e.Stopped, e.Read = messages.CauseInvalidInput, "the request cannot be sent: "+t.unsendable.Error()
	}
	end.Verdict = model.Judge(t.call.client.profile(t.exchange.header), *e)
	if t.noServer && e.Stopped == "" {
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
func (t *attempt) finish() {
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
func (t *attempt) close() {
	if !t.exchange.evidence.Done || t.call.abandoned {
		t.cancel(nil)
	}
	if t.stream != nil {
		t.stream.Close()
	}
	t.cancel(nil)
}

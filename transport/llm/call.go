package llm

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"github.com/seed889630bf/lastword/internal/decode"
	"github.com/seed889630bf/lastword/internal/jsonwalk"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// call is one call of a model, with all its attempts. It belongs to the goroutine of the consumer.
type call struct {
	client    *Client
	name      string // of the model
	bytes     int    // length of the prompt
	most      int    // maximum number of tokens in the answer; 0 if the request sets it
	request   openai.ChatCompletionRequest
	amendment amendment
	yield     func(model.Part, error) bool
	emitted   bool // the consumer has received a part
	abandoned bool // the consumer has stopped reading
	began     time.Time
	release   context.CancelFunc // cancels the context of all attempts; a drain may take it over
}

// emit passes a part to the consumer, unless that has stopped reading.
func (c *call) emit(p model.Part) {
	c.emitted = true
	c.abandoned = c.abandoned || !c.yield(p, nil)
}

// run makes attempts until an answer begins or no further attempt can help.
func (c *call) run(ctx context.Context) {
	limit := c.client.limits.Request
	late := messages.Errorf(messages.CauseDeadline, "the call took longer than %s", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	c.release = cancel
	defer func() { c.release() }()
	c.client.Settle()
	for number := 1; ; {
		t := c.attempt(ctx)
		if c.abandoned {
			t.close()
			return
		}
		end := t.end()
		pause, retry := c.retry(number, end)
		if waited := time.Since(c.began); !end.Evidence.Loading() || end.Evidence.Stopped != "" {
			number++
		} else if pause, retry = loadingPause, waited < c.client.limits.FirstToken; retry {
			c.abandoned = !c.yield(model.Loading{For: waited}, nil)
		} else {
			end = t.judge(end, messages.Errorf(messages.CauseStalled, "the server was still loading %s after %s",
				cmp.Or(c.name, "its model"), waited.Round(time.Second)))
		}
		if c.abandoned {
			t.close()
			return
		}
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

// retry reports whether to try again, and after which pause. It does not retry once the consumer has received a part.
func (c *call) retry(number int, end model.End) (pause time.Duration, ok bool) {
	e := end.Evidence
	if number > c.client.config.Retries || e.Stopped != "" || c.emitted {
		return 0, false
	}
	switch end.Verdict.Cause {
	case messages.CauseTransportClosed, messages.CauseProviderError:
		ok = end.Verdict.Retryable
	}
	if e.Failure != nil {
		pause = time.Duration(e.Failure.RetryAfterMS) * time.Millisecond
	}
	backoff := min(backoffFirst<<min(number-1, 16), backoffMost) // doubles with each attempt, and half of it is random
	return max(pause, backoff/2+rand.N(backoff/2)), ok && pause <= c.client.limits.RetryAfter
}

// sleep pauses. It returns false if ctx is done.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer, stop := context.WithTimeout(ctx, pause)
	defer stop()
	<-timer.Done()
	return ctx.Err() == nil
}

// attempt is one request and its answer.
type attempt struct {
	call       *call
	ctx        context.Context
	cancel     context.CancelCauseFunc
	exchange   *exchange
	answer     *answer
	unsendable error // why go-openai did not send the request
	noServer   bool  // nothing listens at the address
	permanent  bool  // further attempts would fail too
}

// attempt sends the request once. The answer is read later, by read.
func (c *call) attempt(ctx context.Context) *attempt {
	ctx, cancel := context.WithCancelCause(ctx)
	t := &attempt{call: c, ctx: ctx, cancel: cancel}
	t.answer = &answer{began: c.began, most: c.most, yield: c.emit,
		thoughts: decode.NewThoughts(c.client.config.Server.dialect(c.name, c.amendment.request.Extra))}
	t.exchange = &exchange{client: c.client, amendment: c.amendment, watch: watch(c.client.limits, cancel)}
	t.exchange.loaded, t.exchange.ollama = c.client.ollamaLoaded(ctx, c.name)
	defer t.exchange.watch.stop()
	config := openai.DefaultConfig(c.client.key)
	config.BaseURL = c.client.base.String()
	config.HTTPClient = &http.Client{Transport: t.exchange, CheckRedirect: noRedirect}
	// go-openai builds and sends the request. Its own reader of streams is not used, because it misreads what servers
	// send.
	_, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(ctx, c.request)
	switch {
	case t.exchange.body != nil:
		t.read()
	case err != nil:
		t.failed(err)
	}
	return t
}

// noRedirect makes sure that only the configured server gets the key and the prompt.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// failed records why there is no stream. If the server has answered, the evidence says so already.
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
		t.permanent = name || certificate || errors.Is(err, http.ErrSchemeMismatch) || strings.Contains(x.evidence.Read, "malformed HTTP")
	}
}

// read reads the answer until it ends or the consumer stops.
func (t *attempt) read() {
	for !t.call.abandoned {
		chunk := t.exchange.body.next()
		if chunk == nil {
			break
		}
		had := t.answer.output
		if t.answer.add(chunk); t.answer.failed {
			t.exchange.evidence.Failure = t.call.client.failureIn(chunk.raw)
		}
		if !had && t.answer.output {
			t.exchange.watch.first()
		}
		if t.exchange.evidence.Endless = t.answer.endless; t.answer.endless != "" {
			break
		}
	}
	if !t.call.abandoned {
		t.answer.close()
	}
}

// end returns the End of the attempt.
func (t *attempt) end() model.End {
	client, a := t.call.client, t.answer
	end := model.End{Calls: a.calls.Done(), Usage: usage(a.usage), Model: jsonwalk.Text(a.model), FirstToken: a.firstToken}
	if end.Usage != nil && !a.counted {
		end.Usage.CompletionTokens = new(int64) // it was of the part before
	}
	if end.ThoughtsIn = a.thoughtsIn; a.thoughtsIn != "" {
		client.thoughts.Store(&a.thoughtsIn)
	}
	if len(a.extra) > 0 {
		extra, _ := json.Marshal(a.extra) // it was JSON
		end.Extra = string(extra)
	}
	if end.Model != t.call.name { // the requested name is not secret
		end.Model = client.redact(end.Model)
	}
	e := t.exchange.evidence
	e.Finish, e.FinishLast, e.Output = client.redact(a.finish), a.finishLast, a.output
	e.Read = client.redact(e.Read)
	if e.Failure != nil {
		f := *e.Failure
		f.Message, f.Code = client.redact(f.Message), client.redact(f.Code)
		f.Type, f.Param, f.RequestID = client.redact(f.Type), client.redact(f.Param), client.redact(f.RequestID)
		e.Failure = &f
	}
	t.size(&e, end.Usage)
	end.Evidence = e
	return t.judge(end, context.Cause(t.ctx))
}

// size checks whether the prompt was too long. Only then it asks the server for the loaded context, to detect a prompt
// that the server has silently cut, and to tell the user the limit. It assumes that a token is four bytes of text, and
// never eight.
func (t *attempt) size(e *model.Evidence, used *messages.Usage) {
	c := t.call
	prompt, _ := used.Tokens()
	switch {
	case e.Overflows():
		info, need := c.client.info(t.ctx, c.name, true), c.bytes/4
		if info.Context > 0 && !strings.Contains(e.Failure.Message, strconv.Itoa(info.Context)) {
			e.Failure.Message += fmt.Sprintf(" (the loaded context has %d tokens, and the prompt about %d)", info.Context, need)
		}
		if info.MaxContext > 0 && need > info.MaxContext {
			info.Context = info.MaxContext // no larger context would suffice
		}
		e.Failure.Message += "; " + info.Enlarge(need*2)
	case prompt > 0 && int64(c.bytes/8) > prompt && e.Failure == nil:
		loaded := c.client.info(t.ctx, c.name, true).Context
		if loaded > 0 && (prompt*10 > int64(loaded)*9 || c.bytes/8 > loaded) {
			e.Sent, e.Taken = c.bytes/4, int(prompt)
		}
	}
}

// judge sets the verdict. What this side has done takes precedence over what it has seen.
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
	end.Verdict.Retryable = end.Verdict.Retryable && !t.permanent
	if t.noServer && e.Stopped == "" {
		end.Verdict.Message = e.Read // instead of "the connection closed", because there was none
	}
	return end
}

// stopped returns the code for the reason why this side has ended a call.
func stopped(cause error) messages.Code {
	code := messages.CodeOf(cause)
	switch {
	case slices.Contains(messages.Causes(), code):
		return code
	case errors.Is(cause, context.DeadlineExceeded):
		return messages.CauseDeadline
	case errors.Is(cause, context.Canceled):
		return messages.CauseCanceledByUser
	}
	return messages.CauseError
}

// finish ends the last attempt of a call. The consumer does not wait for bytes after [DONE].
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

// close ends the request. If the server may still be sending, it also closes the connection.
func (t *attempt) close() {
	if !t.exchange.evidence.Done || t.call.abandoned {
		t.cancel(nil)
	}
	if t.exchange.body != nil {
		t.exchange.body.Close()
	}
	t.cancel(nil)
}

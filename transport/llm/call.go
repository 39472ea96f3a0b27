package llm

import (
	"context"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/sashabaranov/go-openai"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"go.uber.org/zap"
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

package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/llm"
)

// Options say which server is probed, and how patiently.
type Options struct {
	// Config is how the server is called. Its Profile, Server and Retries are not used: those are what is probed.
	Config llm.Config
	Model  string   // "" or "auto" for the one that is loaded
	Only   []string // the ids of checks; nil for all
	// First is the longest silence before the first token of the first answer, in which a model may be loaded; 5 min if
	// zero.
	First time.Duration
	// Patience is the longest silence before the first token of any other answer; 1 min if zero.
	Patience time.Duration
	// Soon is when a request must have its first token that follows a cancelled one; 5 s if zero.
	Soon time.Duration
	// Silence is how long a server may be silent without a sign of life before something on the way closes the
	// connection; 30 s if zero.
	Silence time.Duration
	// Each is told every result as it comes; nil for nobody.
	Each func(Result)
}

// Status of a check.
type Status string

const (
	Pass Status = "PASS"
	Warn Status = "WARN" // something does not work, or is in doubt, that can be done without
	Fail Status = "FAIL" // answers of this server are in doubt
	Skip Status = "SKIP" // nothing can be said
)

// Result is what a check found.
type Result struct {
	ID     string `json:"id"`
	Title  string `json:"title,omitempty"`
	Status Status `json:"status"`
	Seen   string `json:"seen"`
	Remedy string `json:"remedy,omitempty"`
	TookMS int64  `json:"took_ms"`
}

// Check is one question to a server.
type Check struct {
	ID, Title string
	need      need
	run       func(context.Context, *prober) Result
}

// need is what must work before a check makes sense.
type need int

const (
	nothing need = iota
	reached
	answered
)

// Run makes the checks in their order. The profile is what has been learned so far, also where the error is that of the
// context; any other error is invalid_input, and nothing was asked then.
func Run(ctx context.Context, o Options) (*Profile, error) {
	p, err := newProber(o)
	if err != nil {
		return nil, err
	}
	defer p.transport.close()
	for _, c := range Checks() {
		if len(o.Only) > 0 && !slices.Contains(o.Only, c.ID) {
			continue
		}
		r := p.perform(ctx, c)
		if ctx.Err() != nil {
			return p.done(), context.Cause(ctx)
		}
		p.learned.Results = append(p.learned.Results, r)
		if o.Each != nil {
			o.Each(r)
		}
	}
	return p.done(), nil
}

func (p *prober) perform(ctx context.Context, c Check) Result {
	began := time.Now()
	why := ""
	if c.need >= reached {
		why = p.unreached(ctx)
	}
	if c.need >= answered && why == "" {
		why = p.silent(ctx)
	}
	r := Result{Status: Skip, Seen: why}
	if why == "" {
		r = c.run(ctx, p)
	}
	r.Seen, r.Remedy = p.options.Config.Secrets.Text(r.Seen), p.options.Config.Secrets.Text(r.Remedy)
	r.ID, r.Title, r.TookMS = c.ID, c.Title, time.Since(began).Milliseconds()
	return r
}

func pass(format string, args ...any) Result {
	return Result{Status: Pass, Seen: said(format, args...)}
}

func warn(remedy, format string, args ...any) Result {
	return Result{Status: Warn, Seen: said(format, args...), Remedy: remedy}
}

func fail(remedy, format string, args ...any) Result {
	return Result{Status: Fail, Seen: said(format, args...), Remedy: remedy}
}

func skip(format string, args ...any) Result {
	return Result{Status: Skip, Seen: said(format, args...)}
}

const seenLength = 240

// said is one line of bounded length: servers quote whole requests.
func said(format string, args ...any) string {
	text := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	if len(text) > seenLength {
		text = strings.ToValidUTF8(text[:seenLength], "") + " …"
	}
	return text
}

func invalid(format string, args ...any) *messages.Error {
	return messages.Errorf(messages.Code(messages.CauseInvalidInput), format, args...)
}

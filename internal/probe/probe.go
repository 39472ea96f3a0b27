package probe

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/transport/llm"
)

// Options say which server to check, and how long to wait for it.
type Options struct {
	// Config says how to call the server. Run ignores its Profile, Server and Retries, and determines them itself.
	Config llm.Config
	Model  string   // "" or "auto" means the loaded one
	Only   []string // ids of checks; nil means all
	// First is the timeout for the first token of the first answer, for which the server may load the model; 0 means 5
	// min.
	First time.Duration
	// Patience is the timeout for the first token of any other answer; 0 means 1 min.
	Patience time.Duration
	// Soon is the timeout for the first token of the request after a cancelled one; 0 means 5 s.
	Soon time.Duration
	// Each, if not nil, is called with every result as soon as it is known.
	Each func(Result)
}

// Status is the status of a check.
type Status string

const (
	Pass Status = "PASS"
	Warn Status = "WARN" // something is missing or uncertain, but the commands can work without it
	Fail Status = "FAIL" // the server's answers are not reliable
	Skip Status = "SKIP" // the check could not be made
)

// Result is the result of a check.
type Result struct {
	ID     string `json:"id"`
	Title  string `json:"title,omitempty"`
	Status Status `json:"status"`
	Seen   string `json:"seen"`
	Remedy string `json:"remedy,omitempty"`
	TookMS int64  `json:"took_ms"`
}

// Check is one question about a server.
type Check struct {
	ID, Title string
	need      func(*prober, context.Context) string // says why the check makes no sense; "" if it does; may be nil
	run       func(context.Context, *prober) Result
}

// Checks returns all checks in the order in which Run makes them. A check may use what earlier ones have learned.
func Checks() []Check {
	return []Check{
		{"reachable", "the server can be reached", nil, reachable},
		{"path", "the base URL leads to the API", (*prober).unreached, path},
		{"auth", "the key is accepted", (*prober).unreached, auth},
		{"models", "models are listed", (*prober).unreached, models},
		{"loaded", "the model is loaded", (*prober).unreached, loaded},
		{"context-size", "the loaded context is large enough", (*prober).unreached, contextSize},
		{"answers", "questions are answered", (*prober).unreached, answers},
		{"model-named", "the requested model answers", (*prober).unanswered, modelNamed},
		{"streams", "tokens arrive as they are generated", (*prober).unanswered, streams},
		{"terminator", "answers end with [DONE]", (*prober).unanswered, terminator},
		{"thoughts", "thoughts are separate from the answer", (*prober).unanswered, thoughts},
		{"thoughts-off", "thoughts can be switched off", (*prober).unanswered, thoughtsOff},
		{"fields", "optional fields of a request are accepted", (*prober).unanswered, fields},
		{"max-tokens", "max_tokens limits an answer", (*prober).unanswered, maxTokens},
		{"tool", "the model calls a tool", (*prober).unanswered, tool},
		{"json", "the server enforces JSON", (*prober).unanswered, structured},
		{"cancel", "closing the connection frees the server", (*prober).unanswered, cancel},
	}
}

// Run makes the checks in order. Errors are the cause of ctx, or invalid_input if Run has not asked anything. After ctx
// was canceled, the profile contains what Run had learned by then.
func Run(ctx context.Context, o Options) (*Profile, error) {
	p, err := newProber(o)
	if err != nil {
		return nil, err
	}
	defer (&http.Client{Transport: p.transport}).CloseIdleConnections()
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

// perform makes a check, or skips it if its precondition does not hold. The result contains no secret.
func (p *prober) perform(ctx context.Context, c Check) Result {
	began := time.Now()
	why := ""
	if c.need != nil {
		why = c.need(p, ctx)
	}
	r := Result{Status: Skip, Seen: why}
	if why == "" {
		r = p.twice(ctx, c)
	}
	r.Seen, r.Remedy = p.options.Config.Secrets.Text(r.Seen), p.options.Config.Secrets.Text(r.Remedy)
	r.ID, r.Title, r.TookMS = c.ID, c.Title, time.Since(began).Milliseconds()
	return r
}

// twice makes a check. If it finds a fault, it repeats the check with new answers, so that no verdict depends on a
// single attempt. It does not wait twice for a silent server.
func (p *prober) twice(ctx context.Context, c Check) Result {
	began, before := time.Now(), p.learned
	r := c.run(ctx, p)
	if r.Status != Warn && r.Status != Fail || time.Since(began) >= p.options.Patience || ctx.Err() != nil {
		return r
	}
	learned := p.learned
	before.Server.Kind = cmp.Or(before.Server.Kind, learned.Server.Kind)
	p.learned, p.page, p.pageErr, p.listing, p.first = before, nil, nil, nil, nil
	if c.need != nil && c.need(p, ctx) != "" {
		p.learned = learned
		return r
	}
	again := c.run(ctx, p)
	if again.Status == Pass || again.Status == Warn && r.Status == Fail {
		return again
	}
	p.learned = learned
	return r
}

func pass(format string, args ...any) Result {
	return Result{Status: Pass, Seen: oneLine(format, args...)}
}

func warn(remedy, format string, args ...any) Result {
	return Result{Status: Warn, Seen: oneLine(format, args...), Remedy: remedy}
}

func fail(remedy, format string, args ...any) Result {
	return Result{Status: Fail, Seen: oneLine(format, args...), Remedy: remedy}
}

func skip(format string, args ...any) Result {
	return Result{Status: Skip, Seen: oneLine(format, args...)}
}

// oneLine returns one line of limited length, because some servers quote the whole request.
func oneLine(format string, args ...any) string {
	return words.Clip(strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "), 240)
}

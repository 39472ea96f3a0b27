package probe

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/decode"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/llm"
)

// prober is one run of the checks. It caches answers that several checks need. It belongs to the goroutine of Run.
type prober struct {
	options   Options
	transport http.RoundTripper
	client    *llm.Client
	learned   Profile

	page    *llm.Page // the page with the list of models
	pageErr error     // why there is no page
	listing *listing  // nil before the first request for it
	first   *reply    // the answer to the first prompt; nil before that
	thinks  bool      // the model has sent a thought
}

// listing is what the server says about its models.
type listing struct {
	kind   string
	models []llm.Info
	err    error
}

// newProber checks the options and fills in defaults. It sends nothing.
func newProber(o Options) (*prober, error) {
	o.First, o.Patience = cmp.Or(o.First, 5*time.Minute), cmp.Or(o.Patience, time.Minute)
	o.Soon = cmp.Or(o.Soon, 5*time.Second)
	for _, id := range o.Only {
		if !slices.ContainsFunc(Checks(), func(c Check) bool { return c.ID == id }) {
			return nil, messages.InvalidInput("no check is called %q", id)
		}
	}
	if o.Config.Secrets == nil {
		o.Config.Secrets = new(redact.Secrets)
	}
	transport, err := o.Config.RoundTripper()
	if err != nil {
		return nil, err
	}
	p := &prober{options: o, transport: transport}
	p.learned = Profile{Schema: Schema, BaseURL: o.Config.BaseURL, Checked: time.Now().UTC().Truncate(time.Second)}
	p.client, err = p.clientFor(o.Patience)
	return p, err
}

// clientFor returns a client that never retries, accepts any end of an answer, and leaves thoughts in the text; reply
// separates them.
func (p *prober) clientFor(patience time.Duration) (*llm.Client, error) {
	c := p.options.Config
	c.Transport, c.Retries, c.Profile = p.transport, -1, model.Generic
	c.Server = &llm.ServerProfile{Kind: p.learned.Server.Kind, NoUsage: p.learned.Server.NoUsage, Thoughts: string(decode.None)}
	c.Limits.FirstToken = patience
	c.Limits.Idle = cmp.Or(c.Limits.Idle, p.options.Patience)
	return llm.New(c)
}

// unreached says why the server cannot be asked anything, or "". It waits for a server that is loading its model.
func (p *prober) unreached(ctx context.Context) string {
	for began := time.Now(); p.page == nil && p.pageErr == nil; {
		// Any answer shows that there is a server, also an error, and a part of the page suffices.
		late := fmt.Errorf("nothing came within %s", p.options.Patience)
		within, end := context.WithTimeoutCause(ctx, p.options.Patience, late)
		p.page, p.pageErr = p.client.Get(within, "/models", false)
		if end(); p.page != nil {
			p.pageErr = nil
		}
		if p.page == nil || !p.page.Loading() || time.Since(began) >= p.options.First {
			break
		}
		select {
		case <-time.After(time.Second):
			p.page = nil
		case <-ctx.Done():
		}
	}
	if p.pageErr != nil {
		return "the server cannot be reached"
	}
	return ""
}

// list requests the list of models once.
func (p *prober) list(ctx context.Context) *listing {
	if p.listing == nil {
		ctx, end := context.WithTimeout(ctx, p.options.Patience)
		defer end()
		l := &listing{}
		l.kind, l.models, l.err = p.client.Models(ctx)
		p.listing, p.learned.Server.Kind = l, l.kind
	}
	return p.listing
}

// model returns the name of the model to ask.
func (p *prober) model(ctx context.Context) string {
	if p.learned.Model == "" {
		p.learned.Model = p.choose(ctx)
	}
	return p.learned.Model
}

// choose returns the model that the user named or, without one, a loaded model. Failing that, it is the first in the
// list that is not for embeddings.
func (p *prober) choose(ctx context.Context) string {
	if name := p.options.Model; name != "" && name != "auto" {
		return name
	}
	first := ""
	for _, m := range p.list(ctx).models {
		switch {
		case strings.HasPrefix(m.Kind, "embedding"):
		case m.Loaded:
			return m.ID
		default:
			first = cmp.Or(first, m.ID)
		}
	}
	return first
}

// info returns what the server says about that model, or nil.
func (p *prober) info(ctx context.Context) *llm.Info {
	return llm.Find(p.list(ctx).models, p.model(ctx))
}

// unanswered says why there is no answer to examine, or "".
func (p *prober) unanswered(ctx context.Context) string {
	if why := p.unreached(ctx); why != "" {
		return why
	}
	if r := p.hello(ctx); !r.ok() {
		return "the server does not answer"
	}
	return ""
}

// helloText asks for an answer of known length that any model can give.
const helloText = "Say these ten words, and nothing else: one two three four five six seven eight nine ten"

// hello returns the answer to the first question, which most checks examine.
func (p *prober) hello(ctx context.Context) *reply {
	if p.first != nil {
		return p.first
	}
	r := ask(helloText)
	p.first = p.askWithin(ctx, r, p.options.First)
	f := p.first.end.Evidence.Failure
	if status := p.first.end.Evidence.Status; f != nil && status >= 400 && status < 500 && strings.Contains(f.Words(), "stream_options") {
		p.learned.Server.NoUsage = true
		p.first = p.askWithin(ctx, r, p.options.First)
	}
	return p.first
}

// ask returns a request with one message, and with room for thoughts.
func ask(text string) model.Request {
	return model.Request{Messages: []model.Message{{Role: model.User, Content: text}}, MaxTokens: 1024}
}

func (p *prober) ask(ctx context.Context, r model.Request) *reply {
	return p.askWithin(ctx, r, p.options.Patience)
}

func (p *prober) askWithin(ctx context.Context, r model.Request, patience time.Duration) *reply {
	return p.follow(ctx, r, patience, func(model.Part) bool { return true })
}

// follow sends a request and reads the answer until on returns false.
func (p *prober) follow(ctx context.Context, r model.Request, patience time.Duration, on func(model.Part) bool) *reply {
	r.Model = p.model(ctx)
	info := p.info(ctx) // also tells the kind of the server
	client, err := p.clientFor(patience)
	if err != nil {
		return &reply{failed: err}
	}
	if info != nil && info.Context > 0 {
		r.MaxTokens = min(r.MaxTokens, max(info.Context/4, 1)) // some servers refuse a request whose answer might not fit
	}
	if len(p.learned.Server.Off) > 0 {
		extra := maps.Clone(p.learned.Server.Off)
		maps.Copy(extra, r.Extra)
		r.Extra = extra
	}
	out := &reply{began: time.Now()}
	for part, err := range client.Stream(ctx, r) {
		out.take(part, err)
		if !on(part) {
			break
		}
	}
	dialect := decode.Dialect(p.learned.Server.Thoughts)
	if len(p.learned.Server.Off) > 0 {
		dialect = decode.Auto
	}
	out.text, out.thought, out.stray = split(out.raw, dialect)
	client.Settle()
	return out
}

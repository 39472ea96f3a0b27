package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/messages/redact"
	"github.com/seed889630bf/lastword/transport/llm"
)

// prober is one run of the checks. What several of them look at is asked for once.
type prober struct {
	options   Options
	transport *tap
	client    *llm.Client
	learned   Profile

	page    *llm.Page // of the list of models
	pageErr error
	listing *listing
	first   *reply
	off     map[string]json.RawMessage // fields that switch thoughts off
	weather *reply                     // the answer to an offered tool
	tooLong *reply
	strict  *reply
}

// listing is what the server says of its models.
type listing struct {
	kind   string
	models []llm.Info
	err    error
}

func newProber(o Options) (*prober, error) {
	o.First, o.Patience = cmp.Or(o.First, 5*time.Minute), cmp.Or(o.Patience, time.Minute)
	o.Soon, o.Silence = cmp.Or(o.Soon, 5*time.Second), cmp.Or(o.Silence, 30*time.Second)
	for _, id := range o.Only {
		if !slices.ContainsFunc(Checks(), func(c Check) bool { return c.ID == id }) {
			return nil, invalid("no check is called %q", id)
		}
	}
	if o.Config.Secrets == nil {
		o.Config.Secrets = new(redact.Secrets)
	}
	next, err := o.Config.RoundTripper()
	if err != nil {
		return nil, err
	}
	p := &prober{options: o, transport: &tap{next: next}}
	p.learned = Profile{Schema: Schema, BaseURL: o.Config.BaseURL, Checked: time.Now().UTC().Truncate(time.Second)}
	p.client, err = p.clientFor(o.Patience)
	return p, err
}

// clientFor calls once, and takes whatever ends an answer.
func (p *prober) clientFor(patience time.Duration) (*llm.Client, error) {
	c := p.options.Config
	c.Transport, c.Retries, c.Profile = p.transport, -1, model.Generic
	c.Server = &llm.ServerProfile{NoUsage: p.learned.Server.NoUsage}
	if len(p.off) == 0 {
		c.Server.Thoughts = p.learned.Server.Thoughts
	}
	c.Limits.FirstToken = patience
	c.Limits.Idle = cmp.Or(c.Limits.Idle, p.options.Patience)
	return llm.New(c)
}

// unreached is why the server cannot be asked anything, "" where it can.
func (p *prober) unreached(ctx context.Context) string {
	if p.page == nil && p.pageErr == nil {
		late := fmt.Errorf("nothing came within %s", p.options.Patience)
		ctx, end := context.WithTimeoutCause(ctx, p.options.Patience, late)
		defer end()
		p.page, p.pageErr = p.client.Get(ctx, "/models", false)
		if p.page != nil {
			p.pageErr = nil // what came says enough
		}
	}
	if p.pageErr != nil {
		return "the server cannot be reached"
	}
	return ""
}

// list asks for the models once.
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

// model is the one that is asked for.
func (p *prober) model(ctx context.Context) string {
	if p.learned.Model == "" {
		p.learned.Model = p.choose(ctx)
	}
	return p.learned.Model
}

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

// info is what the server says of the model that is asked for; nil for nothing.
func (p *prober) info(ctx context.Context) *llm.Info {
	name, list := p.model(ctx), p.list(ctx).models
	if i := slices.IndexFunc(list, func(m llm.Info) bool { return m.ID == name }); i >= 0 {
		return &list[i]
	}
	return nil
}

// silent is why there is no answer to look at, "" where there is one.
func (p *prober) silent(ctx context.Context) string {
	if r := p.hello(ctx); !r.ok() {
		return "the server does not answer"
	}
	return ""
}

const helloText = "Say these ten words, and nothing else: one two three four five six seven eight nine ten"

// hello is the answer that most checks look at.
func (p *prober) hello(ctx context.Context) *reply {
	if p.first != nil {
		return p.first
	}
	r := ask(helloText)
	p.first = p.askWithin(ctx, r, p.options.First)
	if w := p.first.words(); p.first.refused() && strings.Contains(w, "stream_options") {
		p.learned.Server.NoUsage = true
		p.first = p.askWithin(ctx, r, p.options.First)
	}
	return p.first
}

// ask is a request of one turn. Models that think need room for it.
func ask(text string) model.Request {
	return model.Request{Messages: []model.Message{{Role: model.User, Content: text}}, MaxTokens: 1024}
}

func (p *prober) ask(ctx context.Context, r model.Request) *reply {
	return p.askWithin(ctx, r, p.options.Patience)
}

func (p *prober) askWithin(ctx context.Context, r model.Request, patience time.Duration) *reply {
	return p.follow(ctx, r, patience, func(model.Part) bool { return true })
}

// follow calls until on says that it is enough.
func (p *prober) follow(ctx context.Context, r model.Request, patience time.Duration, on func(model.Part) bool) *reply {
	client, err := p.clientFor(patience)
	if err != nil {
		return &reply{wire: &wire{}, failed: err}
	}
	r.Model = cmp.Or(r.Model, p.model(ctx))
	if info := p.info(ctx); info != nil && info.Context > 0 {
		r.MaxTokens = min(r.MaxTokens, max(info.Context/4, 1)) // some refuse a request that might not fit
	}
	if len(p.off) > 0 {
		extra := maps.Clone(p.off)
		maps.Copy(extra, r.Extra)
		r.Extra = extra
	}
	ctx, w := watching(ctx)
	out := &reply{wire: w, began: time.Now()}
	for part, err := range client.Stream(ctx, r) {
		out.take(part, err)
		if !on(part) {
			break
		}
	}
	out.ended = time.Now()
	client.Settle()
	return out
}

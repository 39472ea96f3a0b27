package probe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed889630bf/lastword/transport/llm"
)

func reachable(ctx context.Context, p *prober) Result {
	if why := p.unreached(ctx); why != "" {
		return fail("start the server, or give its address with --base-url; behind a proxy see --proxy", "%v", p.pageErr)
	}
	return pass("http %d%s", p.page.Status, prefixed(" from ", p.page.Header.Get("Server")))
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// path looks at the one path that every server has.
func path(ctx context.Context, p *prober) Result {
	const remedy = "the base URL most often ends in /v1; see the server's own pages for it"
	if n, ok := listed(p.page); ok {
		return pass("/models lists %s", count(n, "model"))
	}
	if denied(p.page.Status) {
		return skip("http %d", p.page.Status)
	}
	base := strings.TrimRight(p.options.Config.BaseURL, "/")
	seen := fmt.Sprintf("/models gives http %d with %s", p.page.Status, kindOf(p.page))
	if other, err := p.client.Get(ctx, "/v1/models", false); err == nil {
		if _, ok := listed(other); ok {
			return fail("give --base-url "+base+"/v1", "%s; /v1/models lists models", seen)
		}
	}
	if p.page.Status == http.StatusNotFound && p.silent(ctx) == "" {
		return warn("name the model with --model", "%s, but questions are answered", seen)
	}
	return fail(remedy, "%s", seen)
}

// listed counts the models of a page that lists some in OpenAI's form.
func listed(page *llm.Page) (n int, ok bool) {
	var list struct {
		Data *[]struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if page.Status != http.StatusOK || json.Unmarshal(page.Body, &list) != nil || list.Data == nil {
		return 0, false
	}
	return len(*list.Data), true
}

func kindOf(page *llm.Page) string {
	body := bytes.TrimSpace(page.Body)
	switch {
	case len(body) == 0:
		return "nothing"
	case body[0] == '<':
		return "a web page"
	case json.Valid(body):
		return "JSON that is no list: " + string(body)
	}
	return "text: " + string(body)
}

func denied(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

func auth(ctx context.Context, p *prober) Result {
	c := p.options.Config
	given := c.Key != "" || c.KeyFile != ""
	if denied(p.page.Status) || denied(p.hello(ctx).end.Evidence.Status) {
		status := cmp.Or(p.hello(ctx).end.Evidence.Status, p.page.Status)
		if given {
			return fail("give the key of this server; it is read from --key-file, LASTWORD_API_KEY or OPENAI_API_KEY",
				"http %d: the key is refused", status)
		}
		return fail("give a key by --key-file or LASTWORD_API_KEY", "http %d: a key is needed, and none is given", status)
	}
	if given {
		page, err := p.client.Get(ctx, "/models", true)
		if err == nil && denied(page.Status) {
			return pass("the key is taken, and without it there is http %d", page.Status)
		}
		return pass("the key is taken; models are listed without one, too")
	}
	if !local(c.BaseURL) {
		return warn("let the server ask for a key where others reach it",
			"no key is needed, and the server is not this machine")
	}
	return pass("no key is needed")
}

// local says that only this machine reaches the server, as far as its name tells.
func local(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func models(ctx context.Context, p *prober) Result {
	l := p.list(ctx)
	name := p.model(ctx)
	switch {
	case l.err != nil:
		return warn("name the model with --model", "the models cannot be listed: %v", l.err)
	case len(l.models) == 0:
		return fail("install or load a model at the server, or name one with --model", "the server lists no model")
	case p.info(ctx) == nil:
		return warn("see lastword models for the names", "%s is not among the server's %s",
			name, count(len(l.models), "model"))
	}
	return pass("%s%s; asked is %s", count(len(l.models), "model"), prefixed(" of ", l.kind), name)
}

func loaded(ctx context.Context, p *prober) Result {
	info := p.info(ctx)
	switch {
	case info == nil:
		return skip("the server does not list the model")
	case !info.Loaded:
		return warn("load it: lastword models load "+info.ID,
			"%s is not loaded; the first question has to wait for it", info.ID)
	}
	return pass("%s", info.ID)
}

func contextKnown(ctx context.Context, p *prober) Result {
	const remedy = "how much of a prompt fits has to be guessed; give smaller budgets, or use a server that tells"
	info := p.info(ctx)
	switch {
	case info == nil || info.Context == 0 && info.MaxContext == 0:
		return warn(remedy, "the server does not say how long a prompt may be")
	case info.Context == 0:
		return warn(remedy, "the model is made for %d tokens; with how many it is loaded is not said", info.MaxContext)
	}
	p.learned.Context = info.Context
	return pass("%d tokens", info.Context)
}

const (
	contextLeast    = 2048
	contextSensible = 8192
)

func contextSize(ctx context.Context, p *prober) Result {
	info := p.info(ctx)
	if info == nil || info.Context == 0 {
		return skip("it is not known")
	}
	remedy := fmt.Sprintf("load the model with more: lastword models load %s --context %d", info.ID, 2*contextSensible)
	most := ""
	if info.MaxContext > 0 {
		most = fmt.Sprintf(" of the %d that the model is made for", info.MaxContext)
	}
	switch {
	case info.Context < contextLeast:
		return fail(remedy, "%d tokens%s hold hardly a question", info.Context, most)
	case info.Context < contextSensible:
		return warn(remedy, "%d tokens%s hold little material", info.Context, most)
	}
	return pass("%d tokens%s", info.Context, most)
}

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

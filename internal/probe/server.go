package probe

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/transport/llm"
)

// later is the remedy for temporary failures.
const later = "wait until it is ready, and check again"

// reachable checks that the server answers HTTP requests.
func reachable(ctx context.Context, p *prober) Result {
	if why := p.unreached(ctx); why != "" {
		return fail("start the server, or give its address with --base-url; behind a proxy, set --proxy", "%v", p.pageErr)
	}
	return pass("http %d%s", p.page.Status, prefixed(" from ", p.page.Header.Get("Server")))
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// path checks that the base URL is right, by the one path that every server has.
func path(ctx context.Context, p *prober) Result {
	const remedy = "correct --base-url; it often ends in /v1"
	if n, ok := listed(p.page); ok {
		return pass("/models lists %s", words.Count(n, "model"))
	}
	switch {
	case denied(p.page.Status):
		return skip("http %d", p.page.Status)
	case p.page.Loading():
		return warn(later, "the server is loading its model")
	}
	base := strings.TrimRight(p.options.Config.BaseURL, "/")
	seen := fmt.Sprintf("/models gives http %d with %s", p.page.Status, kindOf(p.page))
	if other, err := p.client.Get(ctx, "/v1/models", false); err == nil {
		if _, ok := listed(other); ok {
			return fail("give --base-url "+base+"/v1", "%s; /v1/models lists models", seen)
		}
	}
	if p.page.Status == http.StatusNotFound && p.unanswered(ctx) == "" {
		return warn("name the model with --model", "%s, but questions are answered", seen)
	}
	return fail(remedy, "%s", seen)
}

// listed counts the models on a page in OpenAI's format. ok is false for any other page.
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

// kindOf describes the content of a page.
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

// auth checks that the server accepts the key, and whether it needs one.
func auth(ctx context.Context, p *prober) Result {
	c := p.options.Config
	given := c.Key != "" || c.KeyFile != ""
	if denied(p.page.Status) || denied(p.hello(ctx).end.Evidence.Status) {
		status := cmp.Or(p.hello(ctx).end.Evidence.Status, p.page.Status)
		if given {
			return fail("set this server's key with --key-file, LASTWORD_API_KEY or OPENAI_API_KEY",
				"http %d: the server refuses the key", status)
		}
		return fail("set a key with --key-file or LASTWORD_API_KEY", "http %d: the server needs a key, and none is set", status)
	}
	if given {
		page, err := p.client.Get(ctx, "/models", true)
		if err == nil && denied(page.Status) {
			return pass("the server accepts the key, and answers http %d without it", page.Status)
		}
		return pass("the server accepts the key; it lists models without one, too")
	}
	return pass("the server needs no key")
}

// models checks that the server lists its models.
func models(ctx context.Context, p *prober) Result {
	l := p.list(ctx)
	name := p.model(ctx)
	switch {
	case l.err != nil:
		return warn("name the model with --model", "the models cannot be listed: %v", l.err)
	case len(l.models) == 0:
		return fail("install or load a model on the server, or name one with --model", "the server lists no model")
	case p.info(ctx) == nil:
		return warn("take a name from lastword models", "%s is not among the server's %s", name, words.Count(len(l.models), "model"))
	}
	return pass("%s%s; asking %s", words.Count(len(l.models), "model"), prefixed(" of ", l.kind), name)
}

// loaded checks that the model is loaded.
func loaded(ctx context.Context, p *prober) Result {
	info := p.info(ctx)
	switch {
	case info == nil:
		return skip("the server does not list the model")
	case !info.Loaded:
		return warn("load it: lastword models load "+info.ID, "%s is not loaded; the first question waits for it", info.ID)
	}
	return pass("%s", info.ID)
}

// contextSize checks that the loaded context is large enough.
func contextSize(ctx context.Context, p *prober) Result {
	info := p.info(ctx)
	if info == nil || info.Context == 0 {
		return skip("the server does not report it")
	}
	p.learned.Context = info.Context
	const least, sensible = 2048, 8192
	remedy := info.Enlarge(2 * sensible)
	most := ""
	if info.MaxContext > 0 {
		most = fmt.Sprintf(" of the model's %d", info.MaxContext)
	}
	switch {
	case info.Context < least:
		return fail(remedy, "%d tokens%s are hardly enough for a question", info.Context, most)
	case info.Context < sensible:
		return warn(remedy, "%d tokens%s leave little room for sources", info.Context, most)
	}
	return pass("%d tokens%s", info.Context, most)
}

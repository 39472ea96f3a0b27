package auth

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// origins are the origins whose pages may call, in addition to the server's own. They have the form that browsers send:
// scheme://host[:port], without a default port.
type origins []string

// newOrigins parses the origins that browsers may call from.
func newOrigins(list []string) (origins, error) {
	var all origins
	for _, text := range list {
		o, ok := normalOrigin(text)
		if !ok {
			return nil, messages.InvalidInput("%.100q is not an origin; write scheme://host or scheme://host:port, without a path", text)
		}
		all = append(all, o)
	}
	return all, nil
}

// normalOrigin returns the origin in the form that browsers send. It accepts any scheme, because applications that
// embed a browser use their own.
func normalOrigin(text string) (string, bool) {
	scheme, host, found := strings.Cut(text, "://")
	if !found || scheme == "" || host == "" || strings.ContainsAny(host, "/?#@\\ \",*") {
		return "", false
	}
	port := impliedPort(scheme)
	if port == "" {
		return text, true
	}
	_, ok := parseEndpoint(host)
	return strings.TrimSuffix(text, ":"+port), ok
}

// usualPorts are the ports that browsers leave out.
var usualPorts = map[string]string{"http": "80", "https": "443"}

// impliedPort returns the default port of http or https, "" for other schemes.
func impliedPort(scheme string) string { return usualPorts[strings.ToLower(scheme)] }

// allow reports whether a page of the origin may call the server at host. If the server needs tokens, every loopback
// page may: without a token it learns nothing.
func (all origins) allow(origin string, host endpoint, tokens bool) bool {
	named := slices.ContainsFunc(all, func(one string) bool { return strings.EqualFold(one, origin) })
	page, samePort, ok := pageOf(origin, host)
	return named || ok && (page.loopback() && tokens || samePort && (page.loopback() && host.loopback() || page.sameHost(host)))
}

// pageOf returns the host of a page, and whether the page has the same port as the called host. ok is false if the
// origin is not http or https.
func pageOf(origin string, host endpoint) (page endpoint, samePort, ok bool) {
	scheme, rest, _ := strings.Cut(origin, "://")
	port := impliedPort(scheme)
	page, ok = parseEndpoint(rest)
	return page, cmp.Or(page.port, port) == cmp.Or(host.port, port), ok && port != ""
}

const (
	corsMethods = "GET, POST, DELETE, OPTIONS" // methods that pages of other origins may use
	corsHeaders = "Authorization, Content-Type, Idempotency-Key, Prefer, If-None-Match, Last-Event-ID, Traceparent, " +
		"Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, User-Agent, X-AI-SDK, X-Chat-Id"
	corsExposed = "Location, ETag, Preference-Applied, WWW-Authenticate, Retry-After, Mcp-Session-Id"
)

// corsPrefixes are prefixes of request headers: those that repeat the arguments of an MCP tool, and those in which the
// SDKs of OpenAI describe themselves.
var corsPrefixes = []string{"mcp-param-", "x-stainless-"}

// checkOrigin refuses requests from pages that may not call, lets the other pages read the response, and answers
// preflight requests, which never carry a token. It reports whether the request should be handled further.
func (m *Middleware) checkOrigin(w http.ResponseWriter, r *http.Request, host endpoint) bool {
	sent := r.Header["Origin"]
	if len(sent) == 0 {
		return true
	}
	if len(sent) > 1 || !m.origins.allow(sent[0], host, m.config.Tokens != nil && m.config.Proxy == nil) {
		m.config.Log.Debug("refused a request for its Origin", "origin", words.Clip(sent[0], 100), "remote", r.RemoteAddr)
		m.refuse(w, messages.Errorf(CodeForbidden,
			"pages of the origin %.100q may not call this server; ask its operator to allow the origin", sent[0]))
		return false
	}
	h := w.Header()
	h["Access-Control-Allow-Origin"] = sent
	h["Access-Control-Expose-Headers"] = m.exposed
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return true
	}
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", corsHeaders+prefixed(r.Header.Values("Access-Control-Request-Headers")))
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return false
}

// prefixed returns the requested headers that have one of the prefixes, at most 64, each preceded by a comma.
func prefixed(requested []string) string {
	var b strings.Builder
	n := 0
	for _, field := range requested {
		for name := range strings.SplitSeq(field, ",") {
			if name = strings.TrimSpace(name); isPrefixed(name) && n < 64 {
				b.WriteString(", ")
				b.WriteString(name)
				n++
			}
		}
	}
	return b.String()
}

// isPrefixed reports whether a header name is valid and has one of the prefixes.
func isPrefixed(name string) bool {
	begins := func(prefix string) bool {
		return len(name) > len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
	}
	return len(name) <= 128 && slices.ContainsFunc(corsPrefixes, begins) && !strings.ContainsFunc(name, notInName)
}

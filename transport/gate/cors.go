package gate

import (
	"net/http"
	"strings"

	"github.com/seed889630bf/lastword/messages/words"
)

const (
	corsMethods = "GET, POST, DELETE, OPTIONS"
	corsHeaders = "Authorization, Content-Type, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID"
	corsExposed = "Mcp-Session-Id, WWW-Authenticate, Retry-After"
	// paramPrefix opens the names of headers that repeat a tool's arguments.
	paramPrefix = "mcp-param-"
)

// checkOrigin refuses requests of pages that may not call, lets the others read the answer, and answers what browsers
// ask before a request (a preflight, which never carries a token). It reports whether the request goes on.
func (g *Gate) checkOrigin(w http.ResponseWriter, r *http.Request, host endpoint) bool {
	sent := r.Header["Origin"]
	if len(sent) == 0 {
		return true
	}
	if len(sent) > 1 || !g.origins.allow(sent[0], host) {
		g.log.Debug("refused a request for its Origin", "origin", words.Clip(sent[0], 100), "remote", r.RemoteAddr)
		Refuse(w, http.StatusForbidden, forbidden(
			"pages of the origin %.100q may not call this server; ask its operator to allow the origin", sent[0]))
		return false
	}
	h := w.Header()
	h["Access-Control-Allow-Origin"] = sent
	h["Access-Control-Expose-Headers"] = g.exposed
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return true
	}
	h.Set("Access-Control-Allow-Methods", corsMethods)
	h.Set("Access-Control-Allow-Headers", corsHeaders+params(r.Header.Values("Access-Control-Request-Headers")))
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return false
}

// params returns the names of those requested headers that repeat a tool's arguments, at most 64, each behind a comma.
func params(requested []string) string {
	var b strings.Builder
	n := 0
	for _, field := range requested {
		for name := range strings.SplitSeq(field, ",") {
			if name = strings.TrimSpace(name); isParam(name) && n < 64 {
				b.WriteString(", ")
				b.WriteString(name)
				n++
			}
		}
	}
	return b.String()
}

func isParam(name string) bool {
	if len(name) <= len(paramPrefix) || len(name) > 128 || !strings.EqualFold(name[:len(paramPrefix)], paramPrefix) {
		return false
	}
	for i := range len(name) {
		if !isNameByte(name[i]) {
			return false
		}
	}
	return true
}

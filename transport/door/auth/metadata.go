package auth

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// wellKnown is the path of the metadata, as RFC 9728 defines it.
const wellKnown = "/.well-known/oauth-protected-resource"

// MetadataPath returns the path of a resource's metadata (RFC 9728, 3.1). resource is a URL or a path on this server.
func MetadataPath(resource string) string {
	u, err := url.Parse(resource)
	if err != nil {
		return wellKnown
	}
	return strings.TrimSuffix(wellKnown+"/"+strings.Trim(u.EscapedPath(), "/"), "/")
}

// ResourceMetadata serves the metadata of a protected resource (RFC 9728): its URL, the URLs of the authorization
// servers, and the scopes. servers is empty if an operator hands out the tokens. If resource is a path, its URL is on
// the called host. Put the handler behind [Middleware.Public], at [MetadataPath].
func ResourceMetadata(resource string, servers []string, scopes []Scope) http.Handler {
	type document struct {
		Resource string   `json:"resource"`
		Servers  []string `json:"authorization_servers,omitempty"`
		Scopes   []Scope  `json:"scopes_supported,omitempty"`
		Methods  []string `json:"bearer_methods_supported"`
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			Refuse(w, messages.Errorf(CodeNotAllowed, "the metadata is read with GET"))
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-cache")
		w.WriteHeader(http.StatusOK)
		_ = json.NewEncoder(w).Encode(document{absolute(r, resource), servers, scopes, []string{"header"}})
	})
}

// absolute returns the URL of target, which may be a path on the called host.
func absolute(r *http.Request, target string) string {
	if !strings.HasPrefix(target, "/") {
		return target
	}
	if r.TLS != nil {
		return "https://" + r.Host + target
	}
	return "http://" + r.Host + target
}

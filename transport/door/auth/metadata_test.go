package auth_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/seed889630bf/lastword/transport/door/auth"
)

func TestMetadataPath(t *testing.T) {
	const root = "/.well-known/oauth-protected-resource"
	for resource, want := range map[string]string{
		"":                                 root,
		"/":                                root,
		"/mcp":                             root + "/mcp",
		"https://mcp.example.com":          root,
		"https://mcp.example.com/":         root,
		"https://mcp.example.com/a/b/?c#d": root + "/a/b",
		"https://mcp.example.com/a%2Fb":    root + "/a%2Fb",
		"http://[::1":                      root,
	} {
		if got := auth.MetadataPath(resource); got != want {
			t.Errorf("%q: %q, want %q", resource, got, want)
		}
	}
}

// Over TLS the called host is one of https.
func TestResourceMetadataOverTLS(t *testing.T) {
	s := httptest.NewTLSServer(newMiddleware(t, auth.Config{}).Public(auth.ResourceMetadata("/mcp", nil, nil)))
	defer s.Close()
	resp, err := s.Client().Get(s.URL)
	must(t, err)
	defer func() { _ = resp.Body.Close() }()
	var got struct{ Resource string }
	if err := json.NewDecoder(resp.Body).Decode(&got); err != nil || got.Resource != s.URL+"/mcp" {
		t.Errorf("resource %q, %v, want %s/mcp", got.Resource, err, s.URL)
	}
}

func TestResourceMetadata(t *testing.T) {
	for _, c := range []struct {
		resource string
		servers  []string
		scopes   []auth.Scope
		want     string
	}{
		{"https://mcp.example.com/mcp", []string{"https://auth.example.com"}, []auth.Scope{auth.ReadRuns, auth.WriteRuns},
			`{"resource":"https://mcp.example.com/mcp","authorization_servers":["https://auth.example.com"],` +
				`"scopes_supported":["run:read","run:write"],"bearer_methods_supported":["header"]}`},
		{"/mcp", nil, nil, `{"resource":"http://localhost:7878/mcp","bearer_methods_supported":["header"]}`},
	} {
		addr := serve(t, newMiddleware(t, auth.Config{}).Public(auth.ResourceMetadata(c.resource, c.servers, c.scopes)))
		a := send(t, addr, "GET /.well-known/oauth-protected-resource/mcp HTTP/1.1", "Host: localhost:7878")
		var got, want any
		if err := json.Unmarshal([]byte(a.body), &got); err != nil {
			t.Fatalf("%q: %v", a.body, err)
		}
		must(t, json.Unmarshal([]byte(c.want), &want))
		if !reflect.DeepEqual(got, want) || a.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s, want %s", a.Header.Get("Content-Type"), a.body, c.want)
		}
		a = send(t, addr, "POST / HTTP/1.1", "Host: localhost", "Content-Length: 0")
		wantRefusal(t, a, http.StatusMethodNotAllowed, auth.CodeNotAllowed)
	}
}

package host

import (
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/settings"
)

func TestCallbackHosts(t *testing.T) {
	f := &Flags{callbackHosts: []string{"hooks.example.com", "other.example.com:8443", "127.0.0.1"}}
	f.endpoint.Env = []string{settings.WebhookSecrets + "=whsec_a,whsec_b"}
	if f.checkCallback() == nil || new(Flags).checkCallback() != nil {
		t.Fatal("who names no host calls somebody back, or who names one nobody")
	}
	for url, allowed := range map[string]bool{
		"https://hooks.example.com/a?b":      true,
		"https://Hooks.Example.com/a":        true,
		"https://other.example.com:8443/":    true,
		"https://other.example.com/":         false,
		"https://hooks.example.com:8443/":    false,
		"http://hooks.example.com/":          false,
		"https://127.0.0.1/":                 false,
		"https://hooks.example.com.evil.net": false,
		"https://a:b@hooks.example.com/":     false,
		"hooks.example.com":                  false,
	} {
		to, err := f.callback(url)
		if (err == nil) != allowed || len(to.Secrets) != 2 || to.AllowPrivate {
			t.Errorf("%s: %+v, %v", url, to, err)
		}
	}
}

package settings

import (
	"context"
	"strings"
	"testing"
)

func TestPasswordsOfProxiesAreSecret(t *testing.T) {
	t.Setenv("https_proxy", "http://me:open%20sesame@proxy.example:3128")
	known := EnvironmentSecrets()
	if got := known.Text("open sesame, open%20sesame, open+sesame"); !strings.HasPrefix(got, "[password], [password]") {
		t.Error(got)
	}
	if SecretsOf(WithSecrets(context.Background(), known)) != known {
		t.Error("commands do not find it")
	}
}

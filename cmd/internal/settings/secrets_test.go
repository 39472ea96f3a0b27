package settings

import (
	"strings"
	"testing"
)

func TestPasswordsOfProxiesAreSecret(t *testing.T) {
	known := EnvironmentSecrets([]string{"https_proxy=http://me:open%20sesame@proxy.example:3128"})
	if got := known.Text("open sesame, open%20sesame, open+sesame"); !strings.HasPrefix(got, "[password], [password]") {
		t.Error(got)
	}
}

package repository

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/testkit"
)

func TestLogins(t *testing.T) {
	home := testkit.Repository(t, []byte(`-- tokens --
# mine
both.example=file-token
file.example=file=token==

-- .git-credentials --
https://mia:st%40re@store.example
https://mia:x@path.example/o/r
nonsense%
https://mia:st0re@store.example:8443
http://mia:plain@plain.example
-- xdg/git/credentials --
https://mia:xdg@xdg.example
https://mia:other@store.example
`))
	env := environment.Variables{"HOME=" + home, "XDG_CONFIG_HOME=" + filepath.Join(home, "xdg"),
		settings.GitToken + "=hub-token", settings.GitTokensFile + "=" + filepath.Join(home, "tokens"),
		settings.GitTokens + "=Both.example=env-token, six.example:8443=port-token,[::1]=v6-token"}
	for url, want := range map[string]login{
		"https://github.com/o/r": {"", "hub-token"}, "https://GitHub.com/o/r": {"", "hub-token"}, "https://codeload.github.com/x": {"", "hub-token"},
		"https://github.com:8443/o/r": {}, "http://github.com/o/r": {}, "https://github.com.evil.example/o/r": {}, "https://notgithub.com/": {},
		"https://github.com@evil.example/": {}, "https://evil.example/github.com": {}, "https://evil.example/?both.example": {},
		"https://both.example/r": {"", "env-token"}, "https://both.example:444/r": {"", "env-token"}, "https://file.example/r": {"", "file=token=="},
		"https://sub.both.example/r": {}, "https://both.example.evil.example/": {}, "https://six.example/r": {}, "https://six.example:8443/r": {"", "port-token"},
		"https://[::1]:9/r": {"", "v6-token"}, "https://store.example/r": {"mia", "st@re"}, "https://store.example:443/r": {"mia", "st@re"},
		"https://store.example:8443/r": {"mia", "st0re"}, "https://store.example:1/r": {}, "http://store.example/r": {}, "https://path.example/o/r": {},
		"https://plain.example/r": {}, "https://xdg.example/r": {"mia", "xdg"}, "git@github.com:o/r": {}, "/a/folder": {}, "": {},
	} {
		for _, remote := range []bool{false, true} {
			got, err := (&Source{Env: env, RemoteOnly: remote}).loginFor(url)
			if remote && want.user != "" {
				want = login{} // the store is its user's
			}
			if err != nil || got != want {
				t.Errorf("%s (remote only: %t): %+v, %v, want %+v", url, remote, got, err, want)
			}
		}
	}
	for _, wrong := range []string{"s3cret-t0ken", "=s3cret-t0ken", "https://h=s3cret-t0ken", "me@h=s3cret-t0ken", "h="} {
		env := environment.Variables{settings.GitTokens + "=" + wrong}
		if _, err := (&Source{Env: env}).loginFor("https://github.com/o/r"); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", wrong, err)
		}
		known := settings.EnvironmentSecrets(env)
		if got := known.Text("s3cret-t0ken"); wrong != "h=" && got != "[token]" {
			t.Errorf("%s: it is told as %s", wrong, got)
		}
	}
}

package repository

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/redact"
)

func TestTokens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	fatal.IfError(t, os.WriteFile(file, []byte("# mine\nboth.example=file-token\nfile.example=file=token==\n\n"), 0o600))
	got, err := For(environment.Variables{settings.GitToken + "=hub-token", settings.GitTokensFile + "=" + file,
		settings.GitTokens + "=Both.example=env-token, six.example:8443=port-token,[::1]=v6-token"}, nil).Tokens()
	want := map[string]string{".github.com:443": "hub-token", "both.example": "env-token", "file.example": "file=token==",
		"six.example:8443": "port-token", "::1": "v6-token"}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	for _, wrong := range []string{"s3cret-t0ken", "=s3cret-t0ken", "https://h=s3cret-t0ken", "me@h=s3cret-t0ken", "h="} {
		env := environment.Variables{settings.GitTokens + "=" + wrong}
		if _, err := For(env, new(redact.Secrets)).Tokens(); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", wrong, err)
		}
		known := settings.Secrets(env, nil)
		if got := known.Text("s3cret-t0ken"); wrong != "h=" && got != "[token]" {
			t.Errorf("%s: it is told as %s", wrong, got)
		}
	}
}

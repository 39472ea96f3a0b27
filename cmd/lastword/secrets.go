package main

import (
	"context"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/seed889630bf/lastword/messages/redact"
)

// secrets come from the environment only, and are shown nowhere.
func secrets() []string {
	return []string{"GH_TOKEN", "GITHUB_ACCESS_TOKEN", "LASTWORD_API_KEY", gitToken, gitTokens, gitTokensFile,
		"OPENAI_API_KEY"}
}

// ofEnvironment are the secrets that the process begins with. Those of files are added when they are read.
func ofEnvironment() *redact.Secrets {
	known := new(redact.Secrets)
	for _, name := range append(secrets(), tokenVariable) {
		value := os.Getenv(name)
		switch {
		case name == gitTokensFile:
		case name == gitTokens:
			for entry := range strings.FieldsFuncSeq(value, isBetween) {
				_, token, named := strings.Cut(entry, "=")
				if !named {
					token = entry
				}
				known.Add("token", token)
			}
		case strings.HasSuffix(name, "_KEY"):
			known.Add("key", value)
		default:
			known.Add("token", value)
		}
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		addPassword(known, os.Getenv(name))
		addPassword(known, os.Getenv(strings.ToLower(name)))
	}
	return known
}

// addPassword adds that of a URL, if it has one.
func addPassword(known *redact.Secrets, address string) {
	if u, err := url.Parse(address); err == nil {
		password, _ := u.User.Password()
		known.Add("password", password)
	}
}

type secretsKey struct{}

// withSecrets has commands find what no output of theirs may hold.
func withSecrets(ctx context.Context, known *redact.Secrets) context.Context {
	return context.WithValue(ctx, secretsKey{}, known)
}

func secretsOf(ctx context.Context) *redact.Secrets {
	known, _ := ctx.Value(secretsKey{}).(*redact.Secrets)
	return known
}

// behind is the stream that a stream without secrets goes to.
func behind(stream any) any {
	if w, ok := stream.(interface{ Unwrap() io.Writer }); ok {
		return w.Unwrap()
	}
	return stream
}

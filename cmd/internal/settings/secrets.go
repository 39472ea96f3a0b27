package settings

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/messages/redact"
)

// SecretVariables come from the environment only, and are shown nowhere.
func SecretVariables() []string {
	return []string{"GH_TOKEN", "GITHUB_ACCESS_TOKEN", "LASTWORD_API_KEY", GitToken, GitTokens, GitTokensFile,
		"OPENAI_API_KEY"}
}

// EnvironmentSecrets are the secrets that the process begins with. Those of files are added when they are read.
func EnvironmentSecrets(env environment.Variables) *redact.Secrets {
	known := new(redact.Secrets)
	for _, name := range append(SecretVariables(), TokenVariable) {
		value := env.Get(name)
		switch {
		case name == GitTokensFile:
		case name == GitTokens:
			for entry := range strings.FieldsFuncSeq(value, IsSeparator) {
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
		addPassword(known, env.Get(name))
		addPassword(known, env.Get(strings.ToLower(name)))
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

// TokenVariable is where the printed settings have clients look for a token.
const TokenVariable = "LASTWORD_TOKEN"

// The variables that hold the tokens of Git hosts. That without hosts is for GitHub.
const (
	GitToken      = "LASTWORD_GIT_TOKEN"
	GitTokens     = "LASTWORD_GIT_TOKENS"
	GitTokensFile = "LASTWORD_GIT_TOKENS_FILE"
)

// IsSeparator is what separates the entries.
func IsSeparator(r rune) bool { return r == ',' || unicode.IsSpace(r) }

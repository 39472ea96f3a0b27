package settings

import (
	"net/url"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/messages/redact"
)

// EnvironmentSecrets returns the secrets in the environment. Secrets in files are added when the files are read.
func EnvironmentSecrets(env environment.Variables) *redact.Secrets {
	known := new(redact.Secrets)
	for _, name := range SecretVariables() {
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
		case name == WebhookSecrets:
			for secret := range strings.FieldsFuncSeq(value, IsSeparator) {
				known.Add("webhook secret", secret)
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

// addPassword adds the password in the URL, if there is one.
func addPassword(known *redact.Secrets, address string) {
	if u, err := url.Parse(address); err == nil {
		password, _ := u.User.Password()
		known.Add("password", password)
	}
}

// WebhookSecrets is the variable with the secrets that sign messages to callback URLs.
const WebhookSecrets = "LASTWORD_WEBHOOK_SECRETS"

// Variables with the keys of model servers.
const (
	apiKey    = "LASTWORD_API_KEY"
	openAIKey = "OPENAI_API_KEY"
)

// Variables with the tokens of Git hosts. GitToken is for GitHub; in the others, each token has a host.
const (
	GitToken      = "LASTWORD_GIT_TOKEN"
	GitTokens     = "LASTWORD_GIT_TOKENS"
	GitTokensFile = "LASTWORD_GIT_TOKENS_FILE"
)

// IsSeparator reports whether the character separates two entries of GitTokens.
func IsSeparator(r rune) bool { return r == ',' || unicode.IsSpace(r) }

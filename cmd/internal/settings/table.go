package settings

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/messages/redact"
)

// A setting is a flag. Its name in files and its variable are derived from the names of flag and command. The table has
// the exceptions. Help, docs/cli.md, config show, doctor and the parser use it, and variables are named nowhere else.

// special holds the exceptions for one setting.
type special struct {
	name      string   // the key, or the flag in all commands that have it
	variables []string // further variables that set it; the flag's own variable wins
	own       bool     // a project's file cannot set it, because it decides where prompts, keys and files go, or starts programs
}

// specials are the keys that differ from others.
var specials = []special{
	{"base-url", []string{"LASTWORD_BASE_URL", "OPENAI_BASE_URL"}, true},
	{"key-file", nil, true},
	{"proxy", nil, true},
	{"ca-file", nil, true},
	{"server", []string{"LASTWORD_SERVER"}, true},
	{"token-file", []string{"LASTWORD_TOKEN_FILE"}, true},
	{"mcp-config", nil, true},
	{"jobs", nil, true},
	{"webhooks", nil, true},
	{"callback-hosts", nil, true},
	{"faults", nil, true},
	{"enable-faults", nil, true},
	{"chat.repository", nil, true},
	{"chat.out", nil, true},
	{"chat.tool", nil, true},
	{"provider.write", nil, true},
}

// specialOf returns the entry of the key, which may be listed by the name of its flag.
func specialOf(k Key) special {
	i := slices.IndexFunc(specials, func(s special) bool { return s.name == k.Name || s.name == k.Flag.Name })
	if i < 0 {
		return special{}
	}
	return specials[i]
}

// Variable is an environment variable that does not belong to a flag.
type Variable struct {
	Name, Meaning string
	Secret        bool // never shown
}

// Variables returns the variables that do not belong to a flag.
func Variables() []Variable {
	return []Variable{
		{"LASTWORD_CONFIG", "file of settings, as --config names one", false},
		{"NO_COLOR", "print without colour, as --no-color does", false},
		{"ACCESSIBLE", "redraw nothing, as screen readers need it", false},
		{apiKey, "key of the server of models", true},
		{openAIKey, "key of a server of models that you name", true},
		{GitToken, "token for github.com", true},
		{"GH_TOKEN", "token for github.com, if " + GitToken + " is not set", true},
		{"GITHUB_ACCESS_TOKEN", "token for github.com, if neither is set", true},
		{GitTokens, "tokens of Git servers, as host=token, with commas between them", true},
		{GitTokensFile, "file with such tokens", true},
		{WebhookSecrets, "secrets that sign what is sent to callers' callback_url, as whsec_..., with commas between them", true},
		{"LASTWORD_TOKEN", "token of lastword serve, in the settings that mcp --print-config prints for a client", true},
	}
}

// SecretVariables returns the variables that hold tokens and keys. No file can set them, and they are never shown.
func SecretVariables() (names []string) {
	for _, v := range Variables() {
		if v.Secret {
			names = append(names, v.Name)
		}
	}
	return names
}

// place is a line in a settings file. The line is 0 for the environment, and for a file as a whole.
type place struct {
	file string // or the name of the variable
	line int
}

func (p place) String() string {
	if p.line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d", p.file, p.line)
}

// Mistake is a setting that cannot be used.
type Mistake struct {
	At     place
	Says   string // what is wrong
	Remedy string
}

func (m Mistake) String() string { return m.At.String() + ": " + m.Says }

// Mistakes is an error with everything that is wrong with the settings.
type Mistakes []Mistake

func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i, one := range m {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

func (m *Mistakes) add(at place, says, remedy string) { *m = append(*m, Mistake{at, says, remedy}) }

// unknown records a name that is not a setting. near is the name that was probably meant, or "".
func (m *Mistakes) unknown(at place, name, near string) {
	if near == "" {
		m.add(at, "no setting is called "+name, "take it out; lastword config show lists the settings")
		return
	}
	m.add(at, fmt.Sprintf("no setting is called %s; did you mean %s?", name, near), "write "+near)
}

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

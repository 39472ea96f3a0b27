package settings

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/internal/stable"
)

// A setting is a flag. Its name in files and its variable are derived from the names of flag and command. Help, docs/cli.md, config show, doctor and the parser use it, and variables are named nowhere else.

// shared are the variables that set a flag in all commands that have it. The variable of the flag's own key wins.
var shared = map[string][]string{
	"base-url":   {"LASTWORD_BASE_URL", "OPENAI_BASE_URL"},
	"server":     {"LASTWORD_SERVER"},
	"token-file": {"LASTWORD_TOKEN_FILE"},
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
		{Trust, "folder of approvals and keys, as --trust names one", false},
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

// sort sorts the mistakes by file and line.
func (m Mistakes) sort() {
	stable.Sort(m, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.At.file, b.At.file), a.At.line-b.At.line, cmp.Compare(a.Says, b.Says))
	})
}

func (m *Mistakes) add(where place, says, remedy string) {
	*m = append(*m, Mistake{where, says, remedy})
}

// unknown records a name that is not a setting. near is the name that was probably meant, or "".
func (m *Mistakes) unknown(where place, name, near string) {
	if near == "" {
		m.add(where, "no setting is called "+name, "take it out; lastword config show lists the settings")
		return
	}
	m.add(where, fmt.Sprintf("no setting is called %s; did you mean %s?", name, near), "write "+near)
}

// Trust is the variable with the folder of approvals and keys.
const Trust = "LASTWORD_TRUST"

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

package settings

import (
	"encoding/json"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/regular"
)

// Secrets returns the secrets of the environment and of the command line, and all tokens of callers, by their shape.
// Those in files are added when the files are read.
func Secrets(env environment.Variables, args []string) *redact.Secrets {
	known := new(redact.Secrets)
	known.AddShape("token", "lw_", 43) // as package auth makes them
	for _, variable := range env {
		name, value, _ := strings.Cut(variable, "=")
		known.Learn(name, value)
	}
	in, before, program := document{known, nil}, "", false
	for i, argument := range args {
		if program || !strings.HasPrefix(argument, "-") {
			in.learn(before, argument)
		} else if _, value, named := strings.Cut(argument, "="); named {
			in.learn("", value) // our own options have no secrets, but URLs and headers
		}
		program = program || argument == "--" || i == 0 && argument == "run"
		if before = ""; program {
			before = option(argument, "")
		}
	}
	return known
}

// Holds says for each flag and variable that names a file how its secrets are learned; nil if it holds none, or none that
// other texts repeat.
var Holds = map[string]func(known *redact.Secrets, text []byte, env environment.Variables){
	"key-file": learnKey, "token-file": learnKey, "nats-creds": learnKey, "session-key": learnKey, "client-secret": learnKey, GitTokensFile: learnList,
	"jobs": LearnDocument, "webhooks": LearnDocument, "mcp-config": LearnDocument,
	"LASTWORD_CONFIG": nil, "config": nil, "ca-file": nil, "faults": nil, "log": nil, "tokens": nil, // digests of tokens
	"output": nil, "write": nil, "input": nil, "file": nil, "key": nil, // what is written or read anyway, digests, a public key
	"prices": nil, "auth": nil, "auth-peer": nil, // prices, the name of a header field, and addresses
}

func learnKey(known *redact.Secrets, text []byte, _ environment.Variables) {
	known.AddText("key", string(text))
}

func learnList(known *redact.Secrets, text []byte, _ environment.Variables) {
	known.AddList("token", string(text))
}

// LearnFiles adds the secrets in the files that flags and variables name, for a command that does not use them.
func LearnFiles(known *redact.Secrets, env environment.Variables, flags []*pflag.Flag) {
	named := map[string][]string{GitTokensFile: {env.Get(GitTokensFile)}}
	for _, f := range flags {
		named[f.Name] = append(named[f.Name], f.Value.String())
	}
	for name, files := range named {
		for _, file := range files {
			if text, err := regular.Read(file, regular.Small); Holds[name] != nil && err == nil { // without it nobody has the secret
				Holds[name](known, text, env)
			}
		}
	}
}

// LearnDocument adds the secrets in a file of jobs, webhooks or MCP servers: what has the name of a secret, also in a
// program's arguments; the variables and headers of MCP servers; and what nobody can guess in a URL.
func LearnDocument(known *redact.Secrets, text []byte, env environment.Variables) {
	var tree any
	if json.Unmarshal(text, &tree) != nil && yamlv3.Unmarshal(text, &tree) != nil {
		return // the file's own reader says what is wrong
	}
	d := document{known, env}
	d.learn("", tree)
}

type document struct {
	known *redact.Secrets
	env   environment.Variables
}

func (d document) learn(name string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, one := range value {
			if text, ok := one.(string); ok && slices.Contains([]string{"env", "headers"}, name) {
				d.known.AddText("mcp", d.expanded(text))
			}
			d.learn(key, one)
		}
	case []any:
		before := name
		for _, one := range value {
			d.learn(before, one)
			text, _ := one.(string)
			before = option(text, name)
		}
	case string:
		value = d.expanded(value)
		d.known.Learn(name, value)
		if strings.HasSuffix(strings.ToLower(name), "url") {
			d.known.LearnAddress(value)
		}
	}
}

// option returns the name of what follows the argument: its own if it is an option, or else the other one.
func option(argument, other string) string {
	if strings.HasPrefix(argument, "-") {
		return argument
	}
	return other
}

// expanded replaces ${NAME} and ${NAME:-default}.
func (d document) expanded(text string) string {
	if !strings.Contains(text, "${") {
		return text
	}
	return os.Expand(text, func(name string) string {
		name, other, _ := strings.Cut(name, ":-")
		if value := d.env.Get(name); value != "" {
			return value
		}
		return other
	})
}

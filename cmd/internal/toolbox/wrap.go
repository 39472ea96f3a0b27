package toolbox

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// named matches the value of --wrap that names a server: NAME=COMMAND or NAME=URL.
var named = regexp.MustCompile(`(?s)^([A-Za-z0-9][A-Za-z0-9_.-]{0,31})=(.*)$`)

// Wrapped returns the servers that --wrap names, in their order: as NAME='COMMAND ARG …', as NAME=URL, or as a file with
// mcpServers. Values in the file are secrets from then on.
func Wrapped(values []string, env environment.Variables, secrets *redact.Secrets, start Starter) (all []source.Server, err error) {
	for _, value := range values {
		more, err := wrapped(value, env, secrets)
		if err != nil {
			return nil, messages.InvalidInput("--wrap %s: %v", value, err)
		}
		for _, s := range more {
			if slices.ContainsFunc(all, func(other source.Server) bool { return other.Name == s.Name }) {
				return nil, messages.InvalidInput("--wrap names two servers %s; give one of them another name", s.Name)
			}
			s.Start, s.Bare = start, true
			all = append(all, s)
		}
	}
	return all, nil
}

// wrapped returns the servers of one value of --wrap.
func wrapped(value string, env environment.Variables, secrets *redact.Secrets) ([]source.Server, error) {
	m := named.FindStringSubmatch(value)
	if m == nil {
		list, err := (&Flags{mcpConfig: value}).configured(env, secrets)
		if err != nil {
			err = fmt.Errorf("it is neither NAME='COMMAND ARG …' nor a file with mcpServers: %w", err)
		}
		return list, err
	}
	s := source.Server{Name: m[1], StartTimeout: 30 * time.Second}
	if strings.HasPrefix(m[2], "http://") || strings.HasPrefix(m[2], "https://") {
		s.URL = m[2]
		list := []source.Server{s}
		logIn(list, env, secrets)
		return list, nil
	}
	words, err := split(m[2])
	if err == nil && len(words) == 0 {
		err = fmt.Errorf("the server %s has no command; write NAME='COMMAND ARG …'", m[1])
	}
	if err != nil {
		return nil, err
	}
	s.Command, s.Args = words[0], words[1:]
	list := []source.Server{s}
	return list, settle(list, env)
}

// split splits a command into words as a shell does, with quotes and backslashes. Nothing is expanded.
func split(text string) (words []string, err error) {
	var word strings.Builder
	var quote rune // the open one, or 0
	in, escaped := false, false
	for _, r := range text {
		switch {
		case escaped:
			if quote == '"' && !strings.ContainsRune("\"\\$`", r) {
				word.WriteByte('\\')
			}
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote, in = r, true
		case quote == 0 && strings.ContainsRune(" \t\n", r):
			if in {
				words = append(words, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteRune(r)
			in = true
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("the command %s ends inside a quote, or after a backslash", text)
	}
	if in {
		words = append(words, word.String())
	}
	return words, nil
}

package repository

import (
	"cmp"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository"
)

// Source opens what generate reads: a folder, an archive, or a repository to fetch. It downloads only over https from
// public addresses, unless flags allow more.
type Source struct {
	repository.Options
	env environment.Variables
}

// For returns a Source for flags to fill in, with the logins of the user whose environment it is.
func For(env environment.Variables, secrets *redact.Secrets) Source {
	s := Source{Options: repository.Options{SSH: userSSH(env), Secrets: secrets}, env: env}
	s.Tokens = s.tokens
	if home := env.Home(); home != "" {
		s.Credentials = append(s.Credentials, filepath.Join(home, ".git-credentials"))
	}
	if dir := env.ConfigFolder(); dir != "" {
		s.Credentials = append(s.Credentials, filepath.Join(dir, "git", "credentials"))
	}
	return s
}

func (s *Source) AddFlags(flags *pflag.FlagSet) {
	s.AddHTTPFlag(flags)
	flags.BoolVar(&s.Allow.Private, "allow-private", false,
		"read from private addresses and this machine, with file URLs")
	flags.BoolVar(&s.Allow.SSH, "allow-ssh", false, "read over ssh, with your keys and known hosts")
	s.AddDownloadFlag(flags)
	settings.ByOperator(flags, "allow-http", "allow-private", "allow-ssh")
}

func (s *Source) AddHTTPFlag(flags *pflag.FlagSet) {
	flags.BoolVar(&s.Allow.HTTP, "allow-http", false,
		"also read over http, which others can watch and change")
}

// Fix makes refusals not mention flags that the command does not have, such as --allow-private.
func (s *Source) Fix() { s.Allow.Fixed = true }

func (s *Source) AddDownloadFlag(flags *pflag.FlagSet) {
	flags.Var((*settings.ByteSize)(&s.MaxDownload), "max-download", "maximum `bytes` from the network (default 256MiB)")
	settings.LoweredByProject(flags, "max-download")
}

func (s *Source) AddLimitFlags(flags *pflag.FlagSet) {
	l := &s.Limits
	flags.IntVar(&l.Files, "max-files", 0, "maximum `number` of files (default 50,000)")
	flags.Var((*settings.ByteSize)(&l.FileBytes), "max-file-size",
		"maximum `bytes` of a file, 16 times as many of a notebook (default 1MiB); skips larger ones")
	flags.Var((*settings.ByteSize)(&l.TotalBytes), "max-bytes", "maximum `bytes` of all files (default 2GiB)")
	flags.IntVar(&l.Depth, "max-depth", 0, "maximum `depth` of folders (default 32)")
	settings.LoweredByProject(flags, "max-files", "max-file-size", "max-bytes", "max-depth")
}

// Check checks the flags.
func (s *Source) Check() error {
	switch {
	case s.Limits.Files < 0:
		return settings.Negative("--max-files")
	case s.Limits.Depth < 0:
		return settings.Negative("--max-depth")
	}
	return nil
}

// tokens returns the tokens by host, from a file and from the environment. The environment wins.
func (s Source) tokens() (map[string]string, error) {
	named := map[string]string{}
	if name := s.env.Get(settings.GitTokensFile); name != "" {
		text, err := regular.Read(name, regular.Small)
		if err != nil {
			return nil, messages.InvalidInput("the file of %s cannot be read: %v", settings.GitTokensFile, exit.Reason(err))
		}
		if err := addTokens(named, string(text), settings.GitTokensFile); err != nil {
			return nil, err
		}
	}
	err := addTokens(named, s.env.Get(settings.GitTokens), settings.GitTokens)
	named[".github.com:443"] = cmp.Or(s.env.Get(settings.GitToken), s.env.Get("GH_TOKEN"), s.env.Get("GITHUB_ACCESS_TOKEN"))
	for _, token := range named {
		s.Secrets.Add("token", token)
	}
	return named, err
}

// addTokens parses entries host=token, separated by commas or line ends; lines that begin with # are comments. Errors
// do not quote an invalid entry, because it may be a token.
func addTokens(named map[string]string, text, where string) error {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for entry := range strings.FieldsFuncSeq(line, settings.IsSeparator) {
			host, token, _ := strings.Cut(entry, "=")
			if host == "" || token == "" || strings.ContainsAny(host, "/@") {
				return messages.InvalidInput("%s: an entry is not of the form host=token, such as git.example.com=TOKEN, without https://",
					where)
			}
			named[strings.Trim(strings.ToLower(host), "[]")] = token
		}
	}
	return nil
}

// userSSH returns the user's agent, keys and known hosts, at ssh's default locations.
func userSSH(env environment.Variables) repository.SSH {
	ssh := repository.SSH{Agent: env.Get("SSH_AUTH_SOCK"), KnownHosts: []string{"/etc/ssh/ssh_known_hosts"}}
	home := env.Home()
	if home == "" {
		return ssh
	}
	ssh.KnownHosts = append(ssh.KnownHosts, filepath.Join(home, ".ssh", "known_hosts"))
	for _, name := range []string{"id_ed25519", "id_ecdsa", "id_rsa"} {
		ssh.Keys = append(ssh.Keys, filepath.Join(home, ".ssh", name))
	}
	return ssh
}

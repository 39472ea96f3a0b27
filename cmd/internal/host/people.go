package host

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// secretFile returns the file in which a server at the URL leaves its user the secret that commands at a terminal send.
// It is "" for other machines.
func secretFile(env environment.Variables, server string) string {
	cache, place := env.CacheFolder(), server
	if !strings.HasPrefix(server, "unix:") {
		u, err := url.Parse(server)
		if err != nil {
			return ""
		}
		if ip, _ := netip.ParseAddr(u.Hostname()); !ip.IsLoopback() && u.Hostname() != "localhost" {
			return ""
		}
		place = u.Port()
	}
	if cache == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(cache), "terminals", messages.Digest(place)[:16])
}

// leaveSecret writes the secret of a server's start. Without it, commands at a terminal cannot confirm.
func leaveSecret(env environment.Variables, server, secret string) (remove func()) {
	name := secretFile(env, server)
	if name == "" || os.MkdirAll(filepath.Dir(name), 0o700) != nil || os.WriteFile(name, []byte(secret), 0o600) != nil {
		return func() {}
	}
	return func() { _ = os.Remove(name) }
}

// atTerminal returns the secret of the server, if a person is at a terminal of this program. A program inside a run may
// have a terminal, too.
func (p *Program) atTerminal(server string) string {
	if p.Env.Get("LASTWORD_RUN") != "" || !terminal.IsTerminal(p.Stdin) || !terminal.IsTerminal(p.Stdout) && !terminal.IsTerminal(p.Stderr) {
		return ""
	}
	secret, _ := regular.Read(secretFile(p.Env, server), regular.Small) // without it, the server decides as for a program
	return string(secret)
}

// Local returns the URL at which programs on this machine reach a server, which may listen at all addresses.
func Local(server string) string {
	u, err := url.Parse(server)
	if err != nil || u.Host == "" { // a socket
		return server
	}
	if ip, err := netip.ParseAddr(u.Hostname()); u.Hostname() == "" || err == nil && ip.IsUnspecified() {
		u.Host = net.JoinHostPort("127.0.0.1", u.Port())
	}
	return u.String()
}

// people returns the URL of the page, "" if there is none.
func (s *Server) people() string {
	if web := s.jobs.web; web != nil && web.PublicURL != "" {
		return web.PublicURL
	}
	if url, _ := s.address.Load().(string); strings.HasPrefix(url, "http") {
		return url
	}
	return ""
}

// MCPPath is the path of the MCP endpoint.
const MCPPath = command.MCPPath

// inside gives the program of a command the server's address, and a token that lives as long as its attempt. It is for
// the path, or for /v1/.
func (s *Server) inside(path string, t *actors.TaskContext, may func(q messages.Request) error) (variables []string, end func()) {
	url, _ := s.address.Load().(string)
	return insideAt(&s.RunTokens, path, url, t, may)
}

// insideAt is inside for a server at the URL; "" is none.
func insideAt(tokens *auth.RunTokens, path, url string, t *actors.TaskContext, may func(q messages.Request) error) (variables []string, end func()) {
	if url == "" {
		return nil, func() {}
	}
	token, end := tokens.Add(t.Principal(), auth.Inside{Run: t.RunID(), Path: path,
		Start: func(ctx context.Context, q messages.Request) (messages.RunID, error) {
			if err := may(q); err != nil {
				return "", err
			}
			run, err := t.Submit(ctx, q)
			if err != nil {
				return "", err
			}
			return run.ID(), nil
		}})
	return []string{"LASTWORD_SERVER=" + url, "LASTWORD_TOKEN=" + token}, end
}

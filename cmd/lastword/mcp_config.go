package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
)

// client is a program whose settings name MCP servers.
type client struct {
	name string
	file string // where the settings go
	// local and remote make the settings; remote is nil where the file knows no URLs.
	local  func(command string, args []string) any
	remote func(url string, token bool) any
	// homeless: the client starts servers anywhere, so that a relative folder says nothing.
	homeless bool
}

func clientsKnown() []client {
	return []client{
		{name: "claude-code", file: ".mcp.json in the project's folder", local: inServers("stdio"),
			remote: byURL("mcpServers", "http", "${"+settings.TokenVariable+"}")},
		{name: "claude-desktop", file: "claude_desktop_config.json", local: inServers(""), homeless: true},
		{name: "cursor", file: ".cursor/mcp.json in the project's folder, or ~/.cursor/mcp.json", local: inServers(""),
			homeless: true, remote: byURL("mcpServers", "", "${env:"+settings.TokenVariable+"}")},
		{name: "vscode", file: ".vscode/mcp.json in the project's folder", local: ofVSCode,
			remote: remoteOfVSCode},
		{name: "codex", file: "~/.codex/config.toml", local: ofCodex, remote: remoteOfCodex, homeless: true},
	}
}

func clientList() (names []string) {
	for _, c := range clientsKnown() {
		names = append(names, c.name)
	}
	return names
}

func clientNames() string { return strings.Join(clientList(), ", ") }

// launched is a server that the client starts, and addressed one that it calls.
type launched struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

type addressed struct {
	Type    string            `json:"type,omitempty"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
}

func inServers(kind string) func(string, []string) any {
	return func(command string, args []string) any {
		return map[string]any{"mcpServers": map[string]any{"lastword": launched{kind, command, args}}}
	}
}

func byURL(section, kind, secret string) func(string, bool) any {
	return func(url string, token bool) any {
		return map[string]any{section: map[string]any{"lastword": addressed{kind, url, bearing(token, secret)}}}
	}
}

func bearing(token bool, secret string) map[string]string {
	if !token {
		return nil
	}
	return map[string]string{"Authorization": "Bearer " + secret}
}

func ofVSCode(command string, args []string) any {
	return map[string]any{"servers": map[string]any{"lastword": launched{"stdio", command, args}}}
}

// remoteOfVSCode has the client ask for the token, and keep it.
func remoteOfVSCode(url string, token bool) any {
	settings := byURL("servers", "http", "${input:lastword-token}")(url, token).(map[string]any)
	if token {
		settings["inputs"] = []any{struct {
			Type        string `json:"type"`
			ID          string `json:"id"`
			Description string `json:"description"`
			Password    bool   `json:"password"`
		}{"promptString", "lastword-token", "Token of the lastword server", true}}
	}
	return settings
}

// toml is text that is printed as it is.
type toml string

func ofCodex(command string, args []string) any {
	return toml(fmt.Sprintf("[mcp_servers.lastword]\ncommand = %s\nargs = %s\n", inTOML(command), inTOML(args)))
}

func remoteOfCodex(url string, token bool) any {
	text := fmt.Sprintf("[mcp_servers.lastword]\nurl = %s\n", inTOML(url))
	if token {
		text += fmt.Sprintf("bearer_token_env_var = %s\n", inTOML(settings.TokenVariable))
	}
	return toml(text)
}

// inTOML writes a text, or a list of some: what is one in JSON is the same in TOML.
func inTOML(value any) string {
	text, err := json.Marshal(value)
	settings.Must(err)
	return string(text)
}

// printClient prints the settings on stdout, and where they go on stderr.
func (s *speaking) printClient(cmd *cobra.Command) error {
	known := clientsKnown()
	i := slices.IndexFunc(known, func(c client) bool { return c.name == s.printConfig })
	if i < 0 {
		return exit.BadUsage(cmd, fmt.Errorf("no client is called %q", s.printConfig), "the clients are "+clientNames())
	}
	settings, err := s.settingsOf(cmd, known[i])
	if err != nil {
		return err
	}
	text, err := written(settings)
	if err != nil {
		return err
	}
	if _, err := cmd.OutOrStdout().Write(text); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.ErrOrStderr(), "for %s\n", known[i].file)
	return err
}

func (s *speaking) settingsOf(cmd *cobra.Command, c client) (any, error) {
	if s.url == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return c.local(self, append([]string{"mcp"}, s.given(cmd, c.homeless)...)), nil
	}
	at, ok := webURL(s.url)
	switch {
	case !ok:
		return nil, exit.BadUsage(cmd, errors.New("--url needs the https URL of a server, such as https://runs.example.com/mcp"), "")
	case c.remote == nil:
		err := fmt.Errorf("%s knows no URLs in its settings; add the server among its connectors", c.name)
		return nil, exit.BadUsage(cmd, err, "")
	}
	if given := s.given(cmd, false); len(given) > 0 {
		err := fmt.Errorf("%s is for a server that the client starts; leave it out, or --url", given[0])
		return nil, exit.BadUsage(cmd, err, "")
	}
	return c.remote(s.url, !isLoopback(at.Hostname())), nil
}

// given are the flags of the command line, so that the client starts what was asked for. Folders are absolute: who
// knows where the client stands.
func (s *speaking) given(cmd *cobra.Command, homeless bool) (args []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value := f.Value.String()
		switch {
		case f.Name == "print-config" || f.Name == "url" || !f.Changed && (f.Name != "out" || !homeless):
			return
		case f.Name == "out" || f.Name == "key-file" || f.Name == "ca-file" || f.Name == "config":
			value = settings.Absolute(value)
		}
		args = append(args, "--"+f.Name+"="+value)
	})
	return args
}

// webURL reads the URL of a server, which holds no credentials.
func webURL(text string) (*url.URL, bool) {
	u, err := url.Parse(text)
	return u, err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

func isLoopback(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

func written(settings any) ([]byte, error) {
	if text, ok := settings.(toml); ok {
		return []byte(text), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(settings)
	return b.Bytes(), err
}

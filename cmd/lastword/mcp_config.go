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

// client is a program that has settings for MCP servers.
type client struct {
	name string
	file string // the file or place for the settings
	// local and remote return the settings. remote is nil if the client does not support URLs.
	local  func(command string, args []string) any
	remote func(url string, token bool) any
	// anyFolder says that the client starts servers in any folder, so that relative paths do not work.
	anyFolder bool
}

func clientsKnown() []client {
	return []client{
		{name: "claude-code", file: ".mcp.json in the project's folder", local: inServers("stdio"),
			remote: byURL("mcpServers", "http", "${"+settings.TokenVariable+"}")},
		{name: "claude-desktop", file: "claude_desktop_config.json", local: inServers(""), anyFolder: true},
		{name: "cursor", file: ".cursor/mcp.json in the project's folder, or ~/.cursor/mcp.json", local: inServers(""),
			anyFolder: true, remote: byURL("mcpServers", "", "${env:"+settings.TokenVariable+"}")},
		{name: "vscode", file: ".vscode/mcp.json in the project's folder", local: ofVSCode,
			remote: remoteOfVSCode},
		{name: "codex", file: "~/.codex/config.toml", local: ofCodex, remote: remoteOfCodex, anyFolder: true},
		{name: "cline", file: "~/.cline/data/settings/cline_mcp_settings.json, or the file that its panel opens", local: inServers(""),
			anyFolder: true, remote: byURL("mcpServers", "streamableHttp", "<token>")},
		{name: "gemini-cli", file: ".gemini/settings.json in the project's folder, or ~/.gemini/settings.json", local: inServers(""),
			anyFolder: true, remote: byKey("mcpServers", "httpUrl", "${"+settings.TokenVariable+"}")},
		{name: "opencode", file: "opencode.json in the project's folder, or ~/.config/opencode/opencode.json", local: ofOpenCode,
			anyFolder: true, remote: byURL("mcp", "remote", "{env:"+settings.TokenVariable+"}")},
		{name: "goose", file: "~/.config/goose/config.yaml", local: ofGoose, remote: remoteOfGoose, anyFolder: true},
		// https://zed.dev/docs/ai/mcp
		{name: "zed", file: "settings.json of Zed (zed: open settings file)", local: func(command string, args []string) any {
			return map[string]any{"context_servers": map[string]any{"lastword": launched{"", command, args}}}
		}, anyFolder: true, remote: byURL("context_servers", "", "<token>")},
		// https://www.jetbrains.com/help/ai-assistant/mcp.html
		{name: "jetbrains", file: "Settings, Tools, AI Assistant, Model Context Protocol (MCP), Add, As JSON", local: inServers(""),
			anyFolder: true, remote: byURL("mcpServers", "", "<token>")},
		// https://docs.windsurf.com/windsurf/cascade/mcp
		{name: "windsurf", file: "~/.codeium/windsurf/mcp_config.json", local: inServers(""), anyFolder: true,
			remote: byKey("mcpServers", "serverUrl", "${env:"+settings.TokenVariable+"}")},
	}
}

func clientList() (names []string) {
	for _, c := range clientsKnown() {
		names = append(names, c.name)
	}
	return names
}

func clientNames() string { return strings.Join(clientList(), ", ") }

// launched is a server that the client starts.
type launched struct {
	Type    string   `json:"type,omitempty"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// addressed is a server that the client reaches by URL.
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

// remoteOfVSCode makes the client ask for the token and store it.
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

// byKey is for clients that have the URL of streamable HTTP under another key.
func byKey(section, key, secret string) func(string, bool) any {
	return func(url string, token bool) any {
		server := map[string]any{key: url}
		if token {
			server["headers"] = bearing(token, secret)
		}
		return map[string]any{section: map[string]any{"lastword": server}}
	}
}

func ofOpenCode(command string, args []string) any {
	return map[string]any{"mcp": map[string]any{"lastword": struct {
		Type    string   `json:"type"`
		Command []string `json:"command"`
	}{"local", append([]string{command}, args...)}}}
}

// ofGoose and remoteOfGoose return YAML, see https://block.github.io/goose/docs/guides/config-files.
func ofGoose(command string, args []string) any {
	return verbatim(fmt.Sprintf("extensions:\n  lastword:\n    enabled: true\n    type: stdio\n    name: lastword\n    cmd: %s\n"+
		"    args: %s\n    timeout: 3600\n", inJSON(command), inJSON(args)))
}

func remoteOfGoose(url string, token bool) any {
	text := fmt.Sprintf("extensions:\n  lastword:\n    enabled: true\n    type: streamable_http\n    name: lastword\n    uri: %s\n"+
		"    timeout: 3600\n", inJSON(url))
	if token {
		text += fmt.Sprintf("    env_keys: [%s]\n    headers:\n      Authorization: Bearer ${%[1]s}\n", settings.TokenVariable)
	}
	return verbatim(text)
}

// verbatim is text in TOML or YAML.
type verbatim string

func ofCodex(command string, args []string) any {
	return verbatim(fmt.Sprintf("[mcp_servers.lastword]\ncommand = %s\nargs = %s\n", inJSON(command), inJSON(args)))
}

func remoteOfCodex(url string, token bool) any {
	text := fmt.Sprintf("[mcp_servers.lastword]\nurl = %s\n", inJSON(url))
	if token {
		text += fmt.Sprintf("bearer_token_env_var = %s\n", inJSON(settings.TokenVariable))
	}
	return verbatim(text)
}

// inJSON formats a string or a list of strings in a way that is valid in TOML and YAML too.
func inJSON(value any) string {
	text, err := json.Marshal(value)
	settings.Must(err)
	return string(text)
}

// printClient prints the settings to stdout, and the file that they belong to to stderr.
func (s *mcpOptions) printClient(cmd *cobra.Command) error {
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

// settingsOf returns the settings for a client: of a server that it starts, or of one with a URL.
func (s *mcpOptions) settingsOf(cmd *cobra.Command, c client) (any, error) {
	if s.url == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return c.local(self, append([]string{"mcp"}, s.given(cmd, c.anyFolder)...)), nil
	}
	at, ok := webURL(s.url)
	switch {
	case !ok:
		return nil, exit.BadUsage(cmd,
			errors.New("--url needs the https URL of a server, such as https://runs.example.com/mcp"), "")
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

// given returns the flags on the command line, with which the client can start the same server. Folders become
// absolute, because the client may start it in another folder.
func (s *mcpOptions) given(cmd *cobra.Command, anyFolder bool) (args []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		value := f.Value.String()
		switch {
		case f.Name == "print-config" || f.Name == "url" || !f.Changed && (f.Name != "out" || !anyFolder):
			return
		case f.Name == "out" || f.Name == "key-file" || f.Name == "ca-file" || f.Name == "config":
			value = settings.Absolute(value)
		}
		args = append(args, "--"+f.Name+"="+value)
	})
	return args
}

// webURL parses the URL of a server. It must not contain credentials.
func webURL(text string) (*url.URL, bool) {
	u, err := url.Parse(text)
	return u, err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil
}

func isLoopback(host string) bool {
	return host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

// written encodes the settings. It leaves characters such as & as they are, because people read the text.
func written(settings any) ([]byte, error) {
	if text, ok := settings.(verbatim); ok {
		return []byte(text), nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(settings)
	return b.Bytes(), err
}

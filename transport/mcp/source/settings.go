package source

import (
	"cmp"
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	lib "github.com/mark3labs/mcp-go/server"

	"github.com/seed889630bf/lastword/messages"
)

// Server describes an MCP server: a Command to start, or a URL.
type Server struct {
	Name    string
	Command string
	Args    []string
	// Env are variables for the process. It also inherits PATH, HOME, USER, LANG, TERM and TMPDIR.
	Env map[string]string
	// Folder is where the process starts. With Command it must be an absolute path, and so must the command: the current
	// folder, which may be a stranger's, chooses nothing.
	Folder  string
	URL     string
	Headers map[string]string
	// Login is the file with what [LogIn] got for the URL; it need not exist.
	Login string
	// Timeout limits a call; 0 leaves that to the caller.
	Timeout time.Duration
	// StartTimeout limits a start; 0 means 30 seconds.
	StartTimeout time.Duration
	// Trust says that the server's hints about its tools are believed.
	Trust bool
	// Start starts the command, whose streams are files, and so what ends with it. Without it, or if it returns nil, the
	// command leads a process group.
	Start func(cmd *exec.Cmd) (Process, error)
	// Only lists the tools that may be called; empty means all. Tools in Except are never called.
	Only, Except []string

	// What follows is for a [Gateway] alone. Local, if not nil, is a server in this process. Bare passes on no variables but PATH, HOME and LANG. Shared says that all
	// principals use one connection. Tools has the operator's word on single tools.
	Local        *lib.MCPServer
	Bare, Shared bool
	Tools        map[string]toolRule
}

// toolRule is the operator's word on a tool.
type toolRule struct {
	// Repeat says whether a call is made again after a crash: never, always, or "" for what the tool's hints say.
	Repeat string
	// Log says what the run keeps of arguments and results: whole, which is the default, or digest.
	Log string
}

// rules reads a member tools that is an object. Some hosts have a list of names there.
type rules map[string]toolRule

func (r *rules) UnmarshalJSON(text []byte) error {
	if text[0] != '{' {
		return nil
	}
	return json.Unmarshal(text, (*map[string]toolRule)(r))
}

// allows reports whether the settings allow a tool.
func (s *Server) allows(tool string) bool {
	return (len(s.Only) == 0 || slices.Contains(s.Only, tool)) && !slices.Contains(s.Except, tool)
}

// entry is a server in the settings, with the spellings of all common MCP hosts.
type entry struct {
	Command  string
	Args     []string
	Env      map[string]string
	Cwd      string
	Type     string
	URL      string
	HTTPURL  string
	Headers  map[string]string
	Disabled bool
	Trust    bool

	TrustHints bool `json:"trust_hints"`
	Shared     bool
	Tools      rules

	Timeout           int64   // in milliseconds
	ToolTimeoutSec    float64 `json:"tool_timeout_sec"`
	StartupTimeoutSec float64 `json:"startup_timeout_sec"`

	IncludeTools, AllowedTools, EnabledTools   []string
	ExcludeTools, ExcludedTools, DisabledTools []string
	EnabledToolsOfCodex                        []string `json:"enabled_tools"`
	DisabledToolsOfCodex                       []string `json:"disabled_tools"`
}

// Parse parses {"mcpServers": {NAME: {...}}} and returns the servers that are not disabled, sorted by name. In strings,
// ${V} is replaced by the value of the variable V, and ${V:-default} by the default if V is not set. Errors:
// invalid_input.
func Parse(settings []byte, lookup func(variable string) (string, bool)) ([]Server, error) {
	var all struct {
		MCPServers map[string]json.RawMessage
	}
	if err := json.Unmarshal(settings, &all); err != nil {
		return nil, messages.InvalidInput("the settings of MCP servers are not JSON: %v", err)
	}
	if len(all.MCPServers) == 0 {
		return nil, messages.InvalidInput(`the settings name no MCP server; write {"mcpServers": {"NAME": {"command": "..."}}}`)
	}
	var servers []Server
	for _, name := range slices.Sorted(maps.Keys(all.MCPServers)) {
		var e entry
		if err := json.Unmarshal(all.MCPServers[name], &e); err != nil {
			return nil, messages.InvalidInput("the settings of the MCP server %s cannot be read: %v", name, err)
		}
		if e.Disabled {
			continue
		}
		s, err := e.server(name, lookup)
		if err != nil {
			return nil, err
		}
		servers = append(servers, s)
	}
	return servers, nil
}

// server checks an entry and resolves its variables. Several programs' names for a setting are accepted.
func (e entry) server(name string, lookup func(string) (string, bool)) (Server, error) {
	x := expander{lookup: lookup}
	for i, argument := range e.Args {
		e.Args[i] = x.text(argument)
	}
	s := Server{Name: name, Command: x.text(e.Command), Args: e.Args, Env: x.values(e.Env), Folder: x.text(e.Cwd),
		URL: x.text(cmp.Or(e.URL, e.HTTPURL)), Headers: x.values(e.Headers), Trust: e.Trust || e.TrustHints,
		Shared: e.Shared, Tools: e.Tools,
		Timeout:      cmp.Or(time.Duration(e.Timeout)*time.Millisecond, seconds(e.ToolTimeoutSec)),
		StartTimeout: cmp.Or(seconds(e.StartupTimeoutSec), 30*time.Second),
		Only:         slices.Concat(e.IncludeTools, e.EnabledTools, e.AllowedTools, e.EnabledToolsOfCodex),
		Except:       slices.Concat(e.ExcludeTools, e.DisabledTools, e.ExcludedTools, e.DisabledToolsOfCodex)}
	wrong := func(why string) error { return messages.InvalidInput("the MCP server %s %s", name, why) }
	switch {
	case x.missing != "":
		return s, wrong("needs the variable " + x.missing + ", which is not set; set it, or write ${" + x.missing + ":-default}")
	case e.Type == "sse":
		return s, wrong("is of type sse, which is not supported; give the URL of its streamable HTTP endpoint, of type http")
	case s.Command == "" && s.URL == "", s.Command != "" && s.URL != "":
		return s, wrong("needs a command or a url, and not both")
	case s.URL != "" && !strings.HasPrefix(s.URL, "http://") && !strings.HasPrefix(s.URL, "https://"):
		return s, wrong("has a url that does not begin with http:// or https://")
	case s.Folder != "" && !filepath.IsAbs(s.Folder):
		return s, wrong("has the cwd " + s.Folder + ", which is not an absolute path; ${PWD} is the current folder")
	case slices.ContainsFunc(slices.Collect(maps.Values(s.Tools)), toolRule.wrong):
		return s, wrong("has tools with a repeat other than never and always, or a log other than whole and digest")
	case s.Timeout < 0 || s.StartTimeout < 0:
		return s, wrong("has a negative timeout")
	}
	return s, nil
}

func (r toolRule) wrong() bool {
	return !slices.Contains([]string{"", "never", "always"}, r.Repeat) || !slices.Contains([]string{"", "whole", "digest"}, r.Log)
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// expander replaces variables in the strings of a server's settings. It remembers a variable that is not set.
type expander struct {
	lookup  func(string) (string, bool)
	missing string
}

// variable matches ${NAME} and ${NAME:-default}.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}`)

// text replaces ${NAME} and ${NAME:-default}. The default also replaces an empty value, as in a shell.
func (x *expander) text(s string) string {
	return variable.ReplaceAllStringFunc(s, func(use string) string {
		parts := variable.FindStringSubmatch(use)
		value, set := x.lookup(parts[1])
		switch {
		case set && value != "" || set && parts[2] == "":
			return value
		case parts[2] != "":
			return parts[3]
		}
		x.missing = parts[1]
		return ""
	})
}

// values expands all values of a map.
func (x *expander) values(m map[string]string) map[string]string {
	out := map[string]string{}
	for k, v := range m {
		out[k] = x.text(v)
	}
	return out
}

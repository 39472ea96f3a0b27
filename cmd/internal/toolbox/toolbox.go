package toolbox

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/secret"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// Flags holds the flags that name tools.
type Flags struct {
	repository, out, mcpConfig string
	// Names are the names of the tools that may be called; nil means all.
	Names []string
	// Attended: a person answers, who is asked before the model writes into an empty folder, too.
	Attended bool
}

// AddFlags adds the flags.
func (f *Flags) AddFlags(cmd *cobra.Command, flags *pflag.FlagSet) {
	flags.StringVar(&f.repository, "repository", "", "`folder` whose files the model may list, read and search")
	flags.StringVar(&f.out, "out", "", "`folder` into which the model may write files; a file that it replaces is kept, with a number")
	f.AddServerFlag(flags)
	flags.StringSliceVar(&f.Names, "tool", nil,
		"`name` of a tool that the model may call without asking you, even to write; * stands for any letters (default: all, and chat asks)")
	settings.ByOperator(flags, "repository", "out", "tool")
}

// About describes what the flags allow a model to do.
func (f *Flags) About() string {
	var about []string
	for _, one := range [][2]string{{"reads ", f.repository}, {"writes to ", f.out}, {"tools of ", f.mcpConfig}} {
		if one[1] != "" {
			about = append(about, one[0]+one[1])
		}
	}
	return cmp.Or(strings.Join(about, ", "), "no tools; --repository . lets it read this folder")
}

// AddServerFlag adds only the flag for MCP servers.
func (f *Flags) AddServerFlag(flags *pflag.FlagSet) {
	flags.StringVar(&f.mcpConfig, "mcp-config", "", "JSON `file` with mcpServers, whose tools a chat's model may call")
	settings.ByOperator(flags, "mcp-config")
}

// Box holds the tools and what is open for them.
type Box struct {
	secrets *redact.Secrets
	own     []tool.Tool
	roots   []*os.Root
	servers *source.Source // nil without servers
}

// Starter starts the commands of MCP servers; see [source.Server].
type Starter = func(cmd *exec.Cmd) (source.Process, error)

// Open opens the folders and reads the settings of the servers, but starts none. Values in the settings are secrets
// from then on.
func (f *Flags) Open(env environment.Variables, secrets *redact.Secrets, version string, start Starter) (*Box, error) {
	b := &Box{secrets: secrets}
	err := b.open(f.repository, regular.Root, func(root *os.Root) ([]tool.Tool, error) {
		return tool.Repository(confined.FS(root)), nil
	})
	if err == nil {
		err = b.open(f.out, confined.MakeRoot, func(root *os.Root) ([]tool.Tool, error) { return tool.Artifacts(root, f.Attended) })
	}
	if f.out != "" && f.repository != "" && settings.Inside(settings.Real(f.out), settings.Real(f.repository)) {
		for i, t := range b.own {
			b.own[i].Outside = t.Outside || t.Access == tool.Read // strangers may have written the repository's text
		}
	}
	if err == nil {
		b.servers, err = f.servers(nil, env, secrets, version, start)
	}
	if err != nil {
		b.Close()
	}
	return b, err
}

// OpenFor opens the servers of --mcp-config and those in a caller's own settings.
func (f *Flags) OpenFor(settings []byte, env environment.Variables, secrets *redact.Secrets, version string, start Starter) (*Box, error) {
	kept, err := f.servers(settings, env, secrets, version, start)
	return &Box{secrets: secrets, servers: kept}, err
}

// open opens a folder that a flag names, and adds the tools for it.
func (b *Box) open(name string, open func(string) (*os.Root, error), tools func(*os.Root) ([]tool.Tool, error)) error {
	if name == "" {
		return nil
	}
	root, err := open(name)
	if err != nil {
		return messages.InvalidInput("cannot open the folder %s: %v", name, exit.Reason(err))
	}
	b.roots = append(b.roots, root)
	list, err := tools(root)
	for i, t := range list {
		if t.Access == tool.Write { // an approval holds for this folder alone
			list[i].Origin = settings.Real(name)
		}
	}
	b.own = append(b.own, list...)
	return err
}

// Empty reports whether the flags name no tools.
func (b *Box) Empty() bool { return len(b.own) == 0 && b.servers == nil }

// Set returns the current tools, for one turn, together with more. It starts the servers that are not running. missing
// says which servers or tools cannot be used, and why.
func (b *Box) Set(ctx context.Context, more ...tool.Tool) (set *tool.Set, missing, err error) {
	all := slices.Concat(b.own, more)
	if b.servers != nil {
		var list []source.Tool
		list, missing = b.servers.Tools(ctx)
		for _, t := range list {
			one := foreign(t)
			if _, err := tool.NewSet(nil, one); err != nil { // for example, a schema with a pattern that Go does not support
				missing = errors.Join(missing, fmt.Errorf("a tool of the MCP server %s is left out: %w", t.Server, err))
				continue
			}
			all = append(all, one)
		}
	}
	clean := func(text string) string { return secret.Redact(b.secrets.Text(text)) }
	if missing != nil {
		missing = errors.New(clean(missing.Error()))
	}
	set, err = tool.NewSet(clean, all...)
	return set, missing, err
}

// Give gives a chat the tools, together with more: at once or, if servers may have to start, at the beginning of its turn.
func (b *Box) Give(c *chat.Config, more ...tool.Tool) (err error) {
	if b.servers == nil {
		c.Tools, _, err = b.Set(context.Background(), more...)
		return err
	}
	c.List = func(ctx context.Context) (set *tool.Set, missing, err error) { return b.Set(ctx, more...) }
	return nil
}

// Listed returns the tools of a set as a Markdown list, and why others are missing.
func Listed(set *tool.Set, missing error) string {
	var list []string
	for _, t := range set.Offered() {
		list = append(list, "- `"+t.Name+"`: "+t.Description)
	}
	if missing != nil {
		list = append(list, missing.Error())
	}
	return strings.Join(list, "\n")
}

// Close closes the folders and stops the servers.
func (b *Box) Close() {
	for _, root := range b.roots {
		root.Close()
	}
	if b.servers != nil {
		b.servers.Close()
	}
}

// servers returns the MCP servers in the file, and in a caller's own settings. In a caller's, variables are not
// replaced.
func (f *Flags) servers(own []byte, env environment.Variables, secrets *redact.Secrets, version string, start Starter) (*source.Source, error) {
	var list []source.Server
	if f.mcpConfig != "" {
		var err error
		if list, err = f.configured(env, secrets); err != nil {
			return nil, err
		}
	}
	if len(own) > 0 {
		more, err := source.Parse(own, func(name string) (string, bool) { return "${" + name + "}", true })
		if err == nil {
			err = settle(more, env)
		}
		if err != nil {
			return nil, err
		}
		list = append(more, stable.DeleteFunc(list, func(s source.Server) bool {
			return slices.ContainsFunc(more, func(m source.Server) bool { return m.Name == s.Name })
		})...)
	}
	if len(list) == 0 {
		return nil, nil
	}
	for i := range list {
		list[i].Start = start
	}
	settings.LearnDocument(secrets, own, nil)
	return source.New(list, version, nil), nil
}

// configured returns the servers in the file of --mcp-config, with what the user has logged in to.
func (f *Flags) configured(env environment.Variables, secrets *redact.Secrets) ([]source.Server, error) {
	text, err := regular.Read(f.mcpConfig, regular.Small)
	if err != nil {
		return nil, messages.InvalidInput("cannot read %s: %v", f.mcpConfig, exit.Reason(err))
	}
	settings.LearnDocument(secrets, text, env)
	list, err := source.Parse(text, func(name string) (string, bool) { value := env.Get(name); return value, value != "" })
	if err == nil {
		err = settle(list, env)
	}
	if err != nil {
		return nil, messages.InvalidInput("%s: %v", f.mcpConfig, err)
	}
	logIn(list, env, secrets)
	return list, nil
}

// logIn lets servers with a URL use the user's logins, if there are any.
func logIn(list []source.Server, env environment.Variables, secrets *redact.Secrets) {
	folder, err := trust.Find(env)
	for i := range list {
		if err == nil && list[i].URL != "" {
			list[i].Login = folder.Login(list[i].URL)
			text, _ := regular.Read(list[i].Login, regular.Small) // there need not be one
			settings.LearnDocument(secrets, text, nil)
		}
	}
}

// Remote returns the server with the name that has a URL, and makes the folder for its login.
func (f *Flags) Remote(name string, env environment.Variables, secrets *redact.Secrets) (source.Server, error) {
	if f.mcpConfig == "" {
		return source.Server{}, messages.InvalidInput("no file names the MCP server %s; give one with --mcp-config", name)
	}
	list, err := f.configured(env, secrets)
	if err != nil {
		return source.Server{}, err
	}
	i := slices.IndexFunc(list, func(s source.Server) bool { return s.Name == name })
	if i < 0 || list[i].URL == "" {
		return source.Server{}, messages.InvalidInput("%s has no MCP server %s with a url", f.mcpConfig, name)
	}
	folder, err := trust.Open(env)
	if err == nil {
		list[i].Login = folder.Login(list[i].URL)
		err = os.MkdirAll(filepath.Dir(list[i].Login), 0o700)
	}
	return list[i], err
}

// settle decides where the commands of servers are, and where they start: in the folder of the settings, or in an empty
// one of the user's. The current folder chooses nothing.
func settle(list []source.Server, env environment.Variables) error {
	for i := range list {
		s := &list[i]
		if s.Command == "" {
			continue
		}
		if s.Folder == "" {
			if err := place(s, env); err != nil {
				return messages.InvalidInput("the MCP server %s %v", s.Name, err)
			}
		}
		path := trust.Path(cmp.Or(s.Env["PATH"], env.Get("PATH")), env)
		s.Command = trust.Command(s.Command, s.Folder, path)
		if s.Env == nil {
			s.Env = map[string]string{}
		}
		s.Env["PATH"] = path
	}
	return nil
}

// place lets a server start in its own empty folder, where no relative path names anything.
func place(s *source.Server, env environment.Variables) error {
	relative := trust.Relative(s.Command, s.Args)
	if strings.ContainsAny(s.Command, `/\`) && !filepath.IsAbs(s.Command) {
		relative = s.Command
	}
	if relative != "" {
		return fmt.Errorf(`names %s, a relative path, and has no cwd; add "cwd": "/its/folder" to its settings, or write an absolute path`, relative)
	}
	trustFolder, err := trust.Open(env)
	if err == nil {
		s.Folder, err = trustFolder.Helper(s.Name)
	}
	if err != nil {
		return fmt.Errorf("needs a folder to start in: %w", err)
	}
	return nil
}

// foreign returns a tool of an MCP server. If the server does not declare an effect, or is not trusted to, the tool is
// assumed to have it.
func foreign(t source.Tool) tool.Tool {
	access := tool.Write
	if t.ReadOnly {
		access = tool.Read
	}
	return tool.Tool{Name: t.Name, Origin: t.Origin, Description: model.Neutral(t.Description),
		Parameters: json.RawMessage(model.Neutral(string(t.Parameters))), Access: access, Timeout: t.Timeout,
		Idempotent: t.ReadOnly || t.Idempotent, Network: !t.Local, Outside: true, Named: t.Named,
		Run: func(ctx context.Context, c *tool.Call) (string, error) {
			return t.Call(ctx, source.Call{ID: c.ID, Run: string(c.Task.RunID()), Arguments: c.Arguments, Progress: c.Progress,
				Ask: c.Ask})
		}}
}

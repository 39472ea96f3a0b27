package toolbox

import (
	"context"
	"encoding/json"
	"os"
	"slices"

	"github.com/seed889630bf/lastword/actors/chat/tool"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/messages/redact"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// servers returns the MCP servers in the file, and those in a caller's own settings. In the latter, variables are not
// replaced.
func servers(file string, own []byte, env environment.Variables, secrets *redact.Secrets, version string) (*source.Source, error) {
	var list []source.Server
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, exit.Invalid("cannot read %s: %v", file, exit.Reason(err))
		}
		list, err = source.Parse(text, func(name string) (string, bool) { value := env.Get(name); return value, value != "" })
		if err != nil {
			return nil, exit.Invalid("%s: %v", file, err)
		}
	}
	if len(own) > 0 {
		more, err := source.Parse(own, func(name string) (string, bool) { return "${" + name + "}", true })
		if err != nil {
			return nil, err
		}
		list = append(more, slices.DeleteFunc(list, func(s source.Server) bool {
			return slices.ContainsFunc(more, func(m source.Server) bool { return m.Name == s.Name })
		})...)
	}
	if len(list) == 0 {
		return nil, nil
	}
	for _, s := range list {
		secrets.Add("mcp", s.Secrets()...)
	}
	return source.New(list, version, nil), nil
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

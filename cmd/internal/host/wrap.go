package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/wrap"
	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/trust"
	"github.com/seed889630bf/lastword/internal/tool"
	calls "github.com/seed889630bf/lastword/internal/wrapped"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// wrapped are the MCP servers of --wrap, whose tools this server offers as its own. mu guards the maps.
type wrapped struct {
	*source.Gateway
	log     *zap.Logger
	redact  func([]byte) []byte
	hints   bool // of all servers count
	results wrap.Results
	door    atomic.Pointer[mcp.Server]
	pins    *tool.Approvals // nil without a folder of trust

	mu       sync.Mutex
	known    map[string]string // pins by server/tool
	withheld map[string]string // names of tools that have changed; nil if they are offered
	changed  map[string]bool   // tools that have changed, and are offered as new ones
}

// openWrapped returns the servers of --wrap, or nil without any. It starts none.
func (c *Checked) openWrapped(log *zap.Logger) (*wrapped, error) {
	if len(c.behind) == 0 {
		return nil, nil
	}
	w := &wrapped{log: log, redact: c.program.Secrets.Bytes, hints: c.web == nil, known: map[string]string{}, changed: map[string]bool{}}
	if c.web != nil {
		w.withheld = map[string]string{}
	}
	var err error
	if w.pins, err = c.program.Approvals(trust.Folder.Wrapped); err != nil {
		return nil, err
	}
	w.Gateway = source.NewGateway(c.behind, build.This().Full(), source.Events{
		Changed: func(method, uri string) {
			if door := w.door.Load(); door != nil {
				door.Changed(method, uri)
			}
		},
		Ask: func(ctx context.Context, principal, run, method string, params json.RawMessage) (json.RawMessage, error) {
			if door := w.door.Load(); door != nil {
				return door.AskClient(ctx, principal, run, method, params)
			}
			return nil, errors.New("the server has not started yet")
		},
		Offer: w.offered,
	}, log)
	return w, nil
}

// close stops the servers.
func (w *wrapped) close() {
	if w != nil {
		w.Gateway.Close()
	}
}

// define returns the job tool.
func (w *wrapped) define() actors.Definition {
	return wrap.Define(wrap.Config{Call: w.call, Rule: w.rule, Held: &w.results})
}

// offer returns how the MCP server offers the servers, or nil without any.
func (c *Checked) offer(w *wrapped) *mcp.Wrap {
	if w == nil {
		return nil
	}
	return &mcp.Wrap{Behind: w, Alone: c.web == nil, Wait: c.wait}
}

// rule returns the operator's word on a tool.
func (w *wrapped) rule(server, name string) wrap.Rule {
	s, _ := w.Server(server)
	one := s.Tools[name]
	w.mu.Lock()
	defer w.mu.Unlock()
	return wrap.Rule{Repeat: one.Repeat, Hints: w.hints || s.Trust, Digest: one.Log == "digest", Changed: w.changed[server+"/"+name]}
}

// views returns a job for each tool, as servers offer them to callers whose clients can be asked nothing. With a name, it
// returns the jobs of that server alone.
func (w *wrapped) views(ctx context.Context, name string) (all []door.View, err error) {
	who := source.Caller{Principal: auth.From(ctx).Name, Capabilities: json.RawMessage("{}")}
	servers := w.Servers()
	var lists []*source.List
	if server, _, _ := strings.Cut(name, "/"); slices.Contains(servers, server) {
		list, err := w.List(ctx, server, who, "tools/list")
		if err != nil {
			return nil, err
		}
		servers, lists = []string{server}, []*source.List{list}
	} else {
		lists = w.Lists(ctx, who, "tools/list", source.ListPatience, 0)
	}
	for i, list := range lists {
		server := servers[i]
		for pos := 0; list != nil && pos < len(list.Names); pos++ {
			all = append(all, view(calls.Input{Server: server, Tool: list.Names[pos], Shown: list.Entries[pos], Client: who.Capabilities}))
		}
	}
	return all, nil
}

// view returns the job for a tool. Its input are the arguments.
func view(of calls.Input) door.View {
	var t struct {
		Title, Description        string
		InputSchema, OutputSchema json.RawMessage
	}
	_ = json.Unmarshal(of.Shown, &t) // a list has read it
	name := of.Server + "/" + of.Tool
	return door.View{JobInfo: messages.JobInfo{Name: name, JobSpec: messages.JobSpec{Title: t.Title, Description: t.Description, OpenWorld: true, Server: of.Server, Tool: of.Tool,
		Input: func() json.RawMessage { return t.InputSchema }}},
		Whole: func(q messages.Request) messages.Request {
			of.Arguments = q.Input
			q.Job, q.Input = wrap.Name, door.JSON(of)
			q.Labels = maps.Clone(q.Labels)
			if q.Labels == nil {
				q.Labels = map[string]string{}
			}
			q.Labels["mcp.tool"] = name
			return q
		}}
}

// Result implements [mcp.Behind].
func (w *wrapped) Result(run messages.RunID) json.RawMessage { return w.results.Of(run) }

// waits begins the name of an entry in the list of pins that the operator has not approved.
const waits = "?"

// offered reports whether a tool may be offered, and remembers what a new one says of itself. A tool that has changed since
// it was seen is offered as a new one, or withheld until the operator approves it.
func (w *wrapped) offered(server string, raw json.RawMessage) bool {
	var t struct {
		Name, Title, Description  string
		InputSchema, OutputSchema json.RawMessage
		Annotations               json.RawMessage
	}
	if json.Unmarshal(raw, &t) != nil {
		return false
	}
	text, _ := json.Marshal(t) // it was JSON
	name, pin := server+"/"+t.Name, messages.Digest(string(text))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known[name] == pin {
		delete(w.withheld, name)
		return true
	}
	last, proposed := w.known[name], ""
	if w.pins != nil {
		kept, err := w.pins.Latest(name, waits+name)
		if err != nil {
			w.log.Error("the list of wrapped tools cannot be read", zap.Error(err))
			return false
		}
		last, proposed = kept[name], kept[waits+name]
	}
	changed := last != "" && last != pin
	if changed && w.withheld[name] != pin {
		then := "it is offered as a new tool"
		if w.withheld != nil {
			then = "it is withheld until: lastword mcp approve " + name
			w.withheld[name] = pin
		}
		w.log.Warn("a wrapped tool is not what it was", zap.String("tool", name), zap.String("then", then))
	}
	if changed && w.withheld != nil {
		if w.pins != nil && proposed != pin {
			w.keep(waits+name, pin)
		}
		return false
	}
	delete(w.withheld, name)
	if changed {
		w.changed[name] = true
	}
	if w.known[name] = pin; w.pins != nil && last != pin {
		w.keep(name, pin)
	}
	return true
}

func (w *wrapped) keep(name, pin string) {
	if err := w.pins.Add(name, pin); err != nil {
		w.log.Error("the list of wrapped tools cannot be written", zap.Error(err))
	}
}

// call makes a call for its run.
func (w *wrapped) call(ctx context.Context, c calls.Call) (json.RawMessage, error) {
	w.mu.Lock()
	withheld := w.withheld[c.Server+"/"+c.Tool] != ""
	w.mu.Unlock()
	if withheld {
		return nil, messages.InvalidInput("the tool %s of the server %s has changed; the operator has not approved it", c.Tool, c.Server)
	}
	raw, err := w.Make(ctx, c)
	return w.redact(bytes.Clone(raw)), err
}

// Seen is a server of --wrap as mcp ls shows it.
type Seen struct {
	Name, State, Problem string
	Tools                []string
}

// See starts the servers of --wrap, and says which tools they have or why they do not start. late is called for those that
// take their time, possibly concurrently.
func (f *Flags) See(ctx context.Context, late func(source.Server)) (all []Seen, err error) {
	c := &Checked{Flags: *f}
	if err := c.readWrapped(); err != nil {
		return nil, err
	}
	g := source.NewGateway(c.behind, build.This().Full(), source.Events{}, nil)
	defer g.Close()
	all = make([]Seen, len(c.behind))
	var starting sync.WaitGroup
	for i, s := range c.behind {
		starting.Go(func() {
			defer time.AfterFunc(source.ListPatience, func() { late(s) }).Stop()
			list, err := g.List(ctx, s.Name, source.Caller{}, "tools/list")
			if err != nil {
				all[i] = Seen{Name: s.Name, State: "down", Problem: err.Error()}
				return
			}
			all[i] = Seen{Name: s.Name, State: "running", Tools: list.Names}
		})
	}
	starting.Wait()
	return all, nil
}

// ApproveWrapped approves tools that have changed, as server/tool. It returns what is approved or, without names, what waits.
func (p *Program) ApproveWrapped(names []string) ([]string, error) {
	pins, err := p.Approvals(trust.Folder.Wrapped)
	if err == nil && pins == nil {
		err = exit.Misconfigured(trust.ErrNowhere)
	}
	if err != nil {
		return nil, err
	}
	all, err := pins.Latest()
	if err != nil {
		return nil, err
	}
	var open []string
	for name, pin := range all {
		if bare, is := strings.CutPrefix(name, waits); is && all[bare] != pin {
			open = append(open, bare)
		}
	}
	slices.Sort(open)
	for _, name := range names {
		if !slices.Contains(open, name) {
			return nil, messages.InvalidInput("no tool %s waits; those that wait are %s", name, cmp.Or(strings.Join(open, ", "), "none"))
		}
		if err := pins.Add(name, all[waits+name]); err != nil {
			return nil, fmt.Errorf("cannot approve %s: %w", name, err)
		}
	}
	if len(names) > 0 {
		return names, nil
	}
	return open, nil
}

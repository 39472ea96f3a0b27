package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

// Behind are other MCP servers, whose tools, resources and prompts a [Server] offers as its own. An error with the method
// RPC() json.RawMessage is a JSON-RPC error of a server.
type Behind interface {
	Servers() []string
	List(ctx context.Context, server string, c Caller, method string) (*List, error)
	// Lists returns the lists of all servers, nil without one. It waits for those that are late until patience is over and
	// least servers have listed.
	Lists(ctx context.Context, c Caller, method string, patience time.Duration, least int) []*List
	Pass(ctx context.Context, server string, c Caller, method string, params json.RawMessage) (json.RawMessage, error)
	// PassAll passes a request on to all servers. It waits for the answers until patience is over, and drops them.
	PassAll(ctx context.Context, c Caller, method string, params json.RawMessage, patience time.Duration)
	// Result returns the result of a run that no log holds, or nil.
	Result(run messages.RunID) json.RawMessage
}

// Caller is who uses a server behind, and what its client declares as its capabilities.
type Caller = source.Caller

// List is a list of a server behind, which never changes.
type List = source.List

// Wrap says how a [Server] offers the servers behind it. Calls of their tools are runs of the job tool.
type Wrap struct {
	Behind Behind
	// Alone: the server offers none of lastword's tools but the tools to wait for runs, to answer and to cancel them.
	Alone bool
	// Wait is how long a call waits for its result before it names the run instead; 0 means 50 s. TaskAfter is that time for
	// clients that have tasks; 0 means 1 s, and a negative time means none.
	Wait, TaskAfter time.Duration
}

// wrapJob is the name of the job.
const wrapJob = "tool"

// aloneTools are the only own tools of a server that offers others'.
var aloneTools = []string{waitTool, answerTool, "run_cancel"}

// behind offers the servers of a Wrap. mu guards the maps.
type behind struct {
	*Server
	Wrap

	mu    sync.Mutex
	names map[string]origin    // of tools, prompts and resources, as clients know them, after the list's method
	shown map[origin]shown     // tools as the inputs of runs have them
	heads map[string]*mcp.Tool // those whose arguments headers repeat, as clients know them
	hosts map[*wire.Exchange]host
	came  chan struct{} // closed when a host comes
}

// origin is an entry of a server's list: a tool, a prompt, or a resource by its URI.
type origin struct{ server, name string }

// shown is a tool as the input of its runs has it, made from an entry of a list.
type shown struct{ of, text json.RawMessage }

func newBehind(s *Server, w Wrap) *behind {
	w.Wait, w.TaskAfter = cmp.Or(w.Wait, defaultWait*time.Millisecond), cmp.Or(w.TaskAfter, time.Second)
	return &behind{Server: s, Wrap: w, names: map[string]origin{}, shown: map[origin]shown{}, heads: map[string]*mcp.Tool{}, hosts: map[*wire.Exchange]host{}, came: make(chan struct{})}
}

// methods returns the handlers of methods that also concern the servers behind. own are the server's own.
func (b *behind) methods(own map[string]wire.Method) map[string]wire.Method {
	all := map[string]wire.Method{"tools/call": b.callTool, "resources/read": b.named("uri"), "prompts/get": b.named("name"),
		"completion/complete": b.complete, "logging/setLevel": b.setLevel}
	for method := range source.Lists {
		all[method] = b.list
	}
	for _, method := range []string{"resources/subscribe", "resources/unsubscribe", "subscriptions/listen"} {
		all[method] = b.subscribe(own[method])
	}
	return all
}

// caller returns who calls, and what the client declares of what servers may ask. Clients without a session answer only
// during calls of tools.
func caller(ctx context.Context, x *wire.Exchange) Caller {
	return Caller{Principal: auth.From(ctx).Name, Capabilities: source.Declare(x.Capabilities(), !x.Modern())}
}

// entry is an entry of a list as clients see it.
type entry struct {
	origin
	shown string
	raw   json.RawMessage
}

// entries returns the entries of all servers, and for how many milliseconds they hold. A server that does not answer with
// patience is left out, unless nobody else has anything to show.
func (b *behind) entries(ctx context.Context, x *wire.Exchange, method string, patience time.Duration) (all []entry, ttl int64) {
	defer b.attend(ctx, x, "", nil)()
	servers, least := b.Behind.Servers(), 0
	if b.Alone {
		least = 1
	}
	lists := b.Behind.Lists(ctx, caller(ctx, x), method, patience, least)
	ttl = longestList
	count := map[string]int{}
	for i, server := range servers {
		if lists[i] == nil {
			ttl = 0
			continue
		}
		ttl = min(ttl, lists[i].TTL)
		for pos, name := range lists[i].Names {
			count[name]++
			all = append(all, entry{origin{server, name}, name, lists[i].Entries[pos]})
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range all {
		e := &all[i]
		if e.shown = b.nameOf(method, e.origin, count[e.name] > 1); e.shown != e.name {
			e.raw = with(e.raw, source.Lists[method].Name, e.shown)
		}
		if method == "tools/list" && (b.heads[e.shown] != nil || bytes.Contains(e.raw, []byte("x-mcp-header"))) {
			tool := &mcp.Tool{}
			_ = json.Unmarshal(e.raw, tool) // of another form it has no headers
			b.heads[e.shown] = tool
		}
	}
	return all, ttl
}

// headedTool returns a tool whose arguments headers repeat, or nil.
func (b *behind) headedTool(name string) *mcp.Tool {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.heads[name]
}

// forever is longer than a server may take to start.
const forever = 24 * time.Hour

// longestList is for how many milliseconds a list of servers behind holds at most.
const longestList = 60_000

// nameOf returns the name by which clients always know an entry: its own, unless several servers or this one have it.
// mu must be held.
func (b *behind) nameOf(method string, o origin, shared bool) string {
	both := []string{o.name, prefixed(method, o)}
	for _, shown := range both {
		if b.names[method+" "+shown] == o {
			return shown
		}
	}
	for _, shown := range both {
		_, taken := b.names[method+" "+shown]
		own := method == "tools/list" && b.mcp.GetTool(shown) != nil && (!b.Alone || slices.Contains(aloneTools, shown))
		if !taken && !own && (!shared || shown != o.name) {
			b.names[method+" "+shown] = o
			return shown
		}
	}
	return prefixed(method, o)
}

// mostName is the maximum length of a tool's name that all providers of models accept.
const mostName = 64

// prefixed returns a name with its server's before it.
func prefixed(method string, o origin) string {
	if strings.HasPrefix(method, "resources/") {
		return "wrap://" + o.server + "/" + o.name
	}
	name := o.server + "__" + o.name
	if len(name) > mostName {
		digest := messages.Digest(name)[:6]
		name = name[:mostName-len(digest)] + digest
	}
	return name
}

// with returns the JSON object with a member set to a value, in the order of the object.
func with(object json.RawMessage, member string, value any) json.RawMessage {
	text, _ := json.Marshal(value) // plain values
	return edit(object, member, text)
}

// edit sets a member of a JSON object, or removes it if value is nil. The other members stay as they are.
func edit(object json.RawMessage, member string, value json.RawMessage) json.RawMessage {
	out, d := []byte{'{'}, json.NewDecoder(bytes.NewReader(object))
	_, _ = d.Token()
	add := func(key string, value json.RawMessage) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		name, _ := json.Marshal(key)
		out = append(append(append(out, name...), ':'), value...)
	}
	for d.More() {
		key, _ := d.Token()
		var held json.RawMessage
		name, ok := key.(string)
		if !ok || d.Decode(&held) != nil {
			return object
		}
		if name != member {
			add(name, held)
		} else if value != nil {
			add(name, value)
			value = nil
		}
	}
	if value != nil {
		add(member, value)
	}
	return append(out, '}')
}

// list answers a method that lists with the entries of the servers behind, and then the server's own.
func (b *behind) list(ctx context.Context, x *wire.Exchange) (any, error) {
	if err := wire.Require(ctx, auth.ReadRuns); err != nil {
		return nil, err
	}
	result, err := x.Library()
	if err != nil {
		return nil, err
	}
	method, member := x.Method(), source.Lists[x.Method()].List
	var fields map[string]json.RawMessage
	var own []json.RawMessage
	text, err := json.Marshal(result)
	if err = cmp.Or(err, json.Unmarshal(text, &fields)); err == nil {
		err = json.Unmarshal(fields[member], &own)
	}
	if err != nil {
		return nil, err
	}
	if b.Alone {
		own = alone(own)
	}
	entries, ttl := b.entries(ctx, x, method, source.ListPatience)
	list := make([]json.RawMessage, 0, len(entries)+len(own))
	for _, e := range entries {
		if method == "tools/list" {
			e.raw = b.asTask(x, e.raw)
		}
		list = append(list, e.raw)
	}
	fields[member], err = json.Marshal(append(list, own...))
	if x.Modern() {
		fields["ttlMs"], _ = json.Marshal(ttl)
	}
	return fields, err
}

// alone returns the server's own tools that stay, in the order of aloneTools, and of another list the card alone.
func alone(own []json.RawMessage) (stay []json.RawMessage) {
	for _, name := range append(slices.Clip(aloneTools), cardName) {
		for _, raw := range own {
			var t struct{ Name string }
			if json.Unmarshal(raw, &t) == nil && t.Name == name {
				stay = append(stay, raw)
			}
		}
	}
	return stay
}

// named passes a request on to the server of the entry that its parameter names, or answers it itself.
func (b *behind) named(param string) wire.Method {
	return func(ctx context.Context, x *wire.Exchange) (any, error) {
		var p map[string]json.RawMessage
		var name string
		if json.Unmarshal(x.Params(), &p) != nil || json.Unmarshal(p[param], &name) != nil {
			return x.Library()
		}
		return b.route(ctx, x, map[string]string{"name": "prompts/list", "uri": "resources/list"}[param], name,
			func(name string) json.RawMessage { return with(x.Params(), param, name) })
	}
}

// complete passes a completion on to the server whose prompt or template it is about.
func (b *behind) complete(ctx context.Context, x *wire.Exchange) (any, error) {
	var p struct {
		Ref json.RawMessage `json:"ref"`
	}
	var ref struct{ Type, Name, URI string }
	_ = json.Unmarshal(x.Params(), &p)
	_ = json.Unmarshal(p.Ref, &ref) // what is not understood is the library's
	if ref.Type == "ref/prompt" {
		return b.route(ctx, x, "prompts/list", ref.Name, func(name string) json.RawMessage {
			return edit(x.Params(), "ref", with(p.Ref, "name", name))
		})
	}
	return b.route(ctx, x, "resources/templates/list", ref.URI, func(uri string) json.RawMessage {
		return edit(x.Params(), "ref", with(p.Ref, "uri", uri))
	})
}

// route passes the request of x on to the server of the entry with the name. params returns the parameters for the name
// that the server knows. A URI that no list has may belong to a template of any server.
func (b *behind) route(ctx context.Context, x *wire.Exchange, method, name string, params func(name string) json.RawMessage) (any, error) {
	if err := wire.Require(ctx, auth.ReadRuns); err != nil {
		return nil, err
	}
	o, known := b.find(ctx, x, method, name)
	switch {
	case known:
		return b.pass(ctx, x, o.server, x.Method(), params(o.name))
	case strings.HasPrefix(name, "run://") || name == cardURI || method == "prompts/list":
		return x.Library()
	}
	tried := map[string]bool{}
	for _, patience := range []time.Duration{source.ListPatience, forever} { // those that are just starting come last
		lists := b.Behind.Lists(ctx, caller(ctx, x), "resources/templates/list", patience, 0)
		for i, server := range b.Behind.Servers() {
			if lists[i] == nil || tried[server] {
				continue
			}
			tried[server] = true
			own := strings.TrimPrefix(name, "wrap://"+server+"/")
			if result, err := b.pass(ctx, x, server, x.Method(), params(own)); err == nil {
				return result, nil
			}
		}
	}
	return x.Library()
}

// find returns the entry that clients know by the name. A name that is not known yet may be in a list that nobody has
// asked for, or of a server that is late. URIs that no list has are common.
func (b *behind) find(ctx context.Context, x *wire.Exchange, method, name string) (o origin, known bool) {
	waits := []time.Duration{source.ListPatience, forever}
	if strings.HasPrefix(method, "resources/") {
		waits = waits[:1]
	}
	o, known = b.lookUp(method, name)
	for i := 0; !known && i < len(waits); i++ {
		b.entries(ctx, x, method, waits[i])
		o, known = b.lookUp(method, name)
	}
	return o, known
}

func (b *behind) lookUp(method, name string) (o origin, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	o, known = b.names[method+" "+name]
	return o, known
}

// pass passes a request on.
func (b *behind) pass(ctx context.Context, x *wire.Exchange, server, method string, params json.RawMessage) (json.RawMessage, error) {
	defer b.attend(ctx, x, "", nil)()
	result, err := b.Behind.Pass(ctx, server, caller(ctx, x), method, edit(params, "_meta", nil))
	if err == nil && x.Modern() && method == "resources/read" { // older servers do not say it
		for member, text := range map[string]string{"ttlMs": "0", "cacheScope": `"private"`} {
			var has map[string]json.RawMessage
			if json.Unmarshal(result, &has) == nil && has[member] == nil {
				result = edit(result, member, json.RawMessage(text))
			}
		}
	}
	return result, faultOf(err)
}

// faultOf returns a server's JSON-RPC error as the request's.
func faultOf(err error) error {
	if refused, ok := errors.AsType[interface {
		error
		RPC() json.RawMessage
	}](err); ok {
		if fault := readFault(refused.RPC()); fault != nil {
			return fault
		}
	}
	return err
}

// readFault parses a JSON-RPC error, or returns nil.
func readFault(text json.RawMessage) *wire.Error {
	var f struct {
		Code    *int
		Message string
		Data    json.RawMessage
	}
	if json.Unmarshal(text, &f) != nil || f.Code == nil {
		return nil
	}
	fault := &wire.Error{Code: *f.Code, Message: f.Message}
	if f.Data != nil {
		fault.Data = f.Data
	}
	return fault
}

// subscribe subscribes the client, and this server at those whose resources they are. A client of 2026-07-28 names them in
// its stream.
func (b *behind) subscribe(own wire.Method) wire.Method {
	return func(ctx context.Context, x *wire.Exchange) (any, error) {
		p, _ := wire.Params[struct {
			URI           string
			Notifications mcp.SubscriptionFilter
		}](x) // own says what is not understood
		if x.Modern() {
			for _, uri := range p.Notifications.ResourceSubscriptions {
				_ = b.subscribeAt(ctx, x, string(mcp.MethodResourcesSubscribe), uri) // a server without subscriptions says nothing
			}
			return own(ctx, x)
		}
		result, err := own(ctx, x)
		if err == nil {
			err = b.subscribeAt(ctx, x, x.Method(), p.URI)
		}
		return result, err
	}
}

// subscribeAt passes a subscription on to the server of the resource.
func (b *behind) subscribeAt(ctx context.Context, x *wire.Exchange, method, uri string) error {
	if strings.HasPrefix(uri, "run://") {
		return nil
	}
	o, known := b.find(ctx, x, "resources/list", uri)
	if !known {
		return nil
	}
	params, err := json.Marshal(map[string]string{"uri": o.name})
	if err == nil {
		_, err = b.pass(ctx, x, o.server, method, params)
	}
	return err
}

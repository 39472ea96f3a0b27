package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// greeting is how long an agent may take until it can be prompted.
const greeting = 60 * time.Second

// Times between the steps that end an agent: a cancel of its turn, the end of its stdin, TERM. The run of a person who
// cancels ends soon, so then they are shorter.
const (
	cancelGrace, stdinGrace = 10 * time.Second, 2 * time.Second
	canceledIn, closedIn    = 2 * time.Second, 500 * time.Millisecond
)

// client is lastword as the client of one agent that speaks ACP, for one prompt. It reads the wire in its order: one
// goroutine takes the lines. mu guards all fields.
type client struct {
	mu sync.Mutex
	turn
	Input
	out       chan []byte
	closed    chan struct{}
	config    Config
	look      *snapshots
	sent      int // ID of the last request
	waiting   map[int]func(result object, failed *rpcError)
	can       object // what the agent says that it can
	prompting int    // the ID of the prompt; 0 before it and after its answer
	leaving   bool
	canceled  bool            // by us
	asks      context.Context // ends with the program
	endAsks   context.CancelFunc
	open      map[string]int                     // how often a call has asked
	asking    map[string]context.CancelCauseFunc // withdraw requests of the agent that wait for people, by ID
	refused   []string                           // titles of calls that a person refused

	stop    string // the agent's reason for its end
	failed  error  // why it cannot go on
	flagged string // what says that the stop reason does not hold
	hold    *time.Timer
}

// rpcError is an error of JSON-RPC.
type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func newClient(in Input, of about, config Config, s command.Spoken) *client {
	c := &client{turn: newTurn(in.Agent, of, s, config.ThroughDoor != ""), Input: in, config: config, out: make(chan []byte, 64), closed: make(chan struct{}),
		waiting: map[int]func(object, *rpcError){}, open: map[string]int{}, asking: map[string]context.CancelCauseFunc{}}
	c.busy = func() {}
	c.Over = func(why error) { time.AfterFunc(0, func() { s.Over(why) }) } // which takes the lock
	c.asks, c.endAsks = context.WithCancel(context.Background())
	c.look = look(in.Dir, config.Command.Folder != nil)
	s.Task.Go(c.write)
	c.greet()
	return c
}

// write writes the lines, so that an agent that does not read holds up nobody.
func (c *client) write(context.Context) error {
	for {
		select {
		case line := <-c.out:
			if _, err := c.Stdin.Write(line); err != nil {
				return nil // the agent has ended, and its exit says why
			}
		case <-c.closed:
			return nil
		}
	}
}

func (c *client) send(message map[string]any) {
	message["jsonrpc"] = "2.0"
	line, err := json.Marshal(message)
	if err != nil { // of strings and raw JSON, which was read
		return
	}
	select {
	case c.out <- append(line, '\n'):
	default: // an agent that leaves so many unread is ended by the limit on silence
	}
}

// call sends a request. then gets its answer.
func (c *client) call(method string, params map[string]any, then func(result object, failed *rpcError)) {
	c.sent++
	c.waiting[c.sent] = then
	c.send(map[string]any{"id": c.sent, "method": method, "params": params})
}

func (c *client) reply(id json.RawMessage, result any) {
	c.send(map[string]any{"id": id, "result": result})
}

// greet begins the session.
func (c *client) greet() {
	can := map[string]any{"fs": map[string]any{"readTextFile": false, "writeTextFile": false}, "terminal": false,
		"elicitation": map[string]any{"form": map[string]any{}}, "session": map[string]any{"configOptions": map[string]any{"boolean": map[string]any{}}}}
	c.hold = time.AfterFunc(greeting, func() {
		c.mu.Lock()
		late := c.prompting == 0 && c.stop == ""
		c.mu.Unlock()
		if late {
			c.Over(messages.Errorf(messages.CauseStalled, "%s did not begin a session within %v", c.name, greeting))
		}
	})
	c.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": can, "clientInfo": map[string]any{"name": "lastword", "version": "1"}},
		func(result object, failed *rpcError) {
			if failed != nil {
				c.fail(c.errorOf(failed, messages.CauseProviderError))
				return
			}
			if c.can = result; result.text("protocolVersion") != "1" {
				c.fail(messages.Errorf(messages.CauseError, "%s speaks version %q of ACP, and lastword version 1; update one of them", c.name, result.text("protocolVersion")))
				return
			}
			if c.install == "" {
				c.about = ofProgram(result.text("agentInfo.name"))
			}
			if c.foreign && c.behindDoor {
				c.fail(errForeign(c.name))
				return
			}
			c.enter(true)
		})
}

// enter begins the session or goes on with one. mayLogIn: a refusal for want of a login is answered by one.
func (c *client) enter(mayLogIn bool) {
	params, method := map[string]any{"cwd": c.Dir, "mcpServers": c.servers()}, "session/new"
	if c.Session != "" {
		params["sessionId"] = c.Session
		switch caps := c.can.object("agentCapabilities"); {
		case caps["loadSession"] == true:
			method = "session/load"
		case caps.at("sessionCapabilities.resume") != nil:
			method = "session/resume"
		default:
			c.fail(messages.InvalidInput("%s cannot go on with a session; leave the session out", c.name))
			return
		}
	}
	c.call(method, params, func(result object, failed *rpcError) {
		switch {
		case failed != nil && failed.Code == authRequired && mayLogIn && c.logIn():
		case failed != nil:
			c.fail(c.errorOf(failed, messages.CauseError))
		default:
			c.session = cmp.Or(result.text("sessionId"), c.Session)
			if err := c.config.remember(c.Input, c.session, c.Task.Principal()); err != nil {
				c.fail(err)
				return
			}
			c.setMode()
		}
	})
}

// servers offers the agent lastword's own MCP server, with a token that was made for this run and ends with it.
func (c *client) servers() []any {
	url, token := serverOf(c.Inside)
	switch relay := c.config.Relay; {
	case url == "":
	case strings.HasPrefix(url, "http:") && c.can.at("agentCapabilities.mcpCapabilities.http") == true:
		return []any{map[string]any{"type": "http", "name": "lastword", "url": url + command.MCPPath,
			"headers": []any{map[string]string{"name": "Authorization", "value": "Bearer " + token}}}}
	case relay != nil && !strings.HasPrefix(url, "https:"):
		env := []any{}
		for name, value := range map[string]string{"LASTWORD_RUN": string(c.Task.RunID()), "LASTWORD_SERVER": url, "LASTWORD_TOKEN": token} {
			env = append(env, map[string]string{"name": name, "value": value})
		}
		return []any{map[string]any{"name": "lastword", "command": relay[0], "args": append(slices.Clone(relay[1:]), url), "env": env}}
	}
	return []any{}
}

// logIn logs in by a key that a variable holds, and then enters again. It starts no other way to log in.
func (c *client) logIn() bool {
	if c.auth == "" {
		return false
	}
	c.call("authenticate", map[string]any{"methodId": c.auth}, func(_ object, failed *rpcError) {
		if failed != nil {
			c.fail(c.errorOf(failed, messages.CodeAuthRequired))
			return
		}
		c.enter(false)
	})
	return true
}

// setMode sets the mode, if there is one to set, and then prompts.
func (c *client) setMode() {
	mode := c.Mode
	if mode == "" || mode == AskMode {
		mode = c.ask
	}
	if mode == "" {
		c.prompt()
		return
	}
	c.call("session/set_mode", map[string]any{"sessionId": c.session, "modeId": mode}, func(_ object, failed *rpcError) {
		if failed != nil && mode != c.ask {
			c.fail(messages.InvalidInput("%s does not take the mode %q: %s", c.name, mode, words.OneLine(failed.Message)))
			return
		}
		c.prompt()
	})
}

// prompt gives the agent its task, once the folder's state is known.
func (c *client) prompt() {
	c.Task.Go(func(ctx context.Context) error {
		<-c.look.done
		c.mu.Lock()
		defer c.mu.Unlock()
		if ctx.Err() != nil || c.leaving {
			return nil
		}
		text := []any{map[string]any{"type": "text", "text": c.Prompt}}
		c.prompting = c.sent + 1
		c.call("session/prompt", map[string]any{"sessionId": c.session, "prompt": text}, c.answered)
		return c.works()
	})
}

// answered takes the answer to the prompt.
func (c *client) answered(result object, failed *rpcError) {
	c.prompting = 0
	if failed != nil {
		c.fail(c.errorOf(failed, messages.CauseError))
		return
	}
	c.stop = cmp.Or(result.text("stopReason"), "unknown")
	c.count(result)
	if usage, given := result["usage"]; given && usage == nil && c.retried != "" {
		c.flagged = c.retried
	}
	c.Over(nil)
}

// count takes the usage that an answer reports.
func (c *client) count(result object) {
	used := usageOf(result.object("usage"), "inputTokens", "outputTokens", "cachedReadTokens", "thoughtTokens", "cachedReadTokens", "cachedWriteTokens")
	c.uses(cmp.Or(used, usageOf(result.object("_meta.quota.token_count"), "input_tokens", "output_tokens", "", "")))
}

// fail ends an agent that cannot go on.
func (c *client) fail(why error) {
	c.failed = cmp.Or(c.failed, why)
	c.Over(nil)
}

// authRequired is the code of ACP for a missing login.
const authRequired = -32000

// errorOf translates an error of the agent.
func (c *client) errorOf(e *rpcError, code messages.Code) error {
	says := e.Message
	var data object
	if json.Unmarshal(e.Data, &data) == nil {
		if more := data.either("message", "details", "error"); more != "" && !strings.Contains(says, more) {
			says += ": " + more
		}
	}
	failed := messages.Errorf(code, "%s has failed: %s", c.name, messages.Bound(words.OneLine(says), 1<<10))
	switch {
	case e.Code == authRequired:
		failed.Code = messages.CodeAuthRequired
		for _, way := range c.can.list("authMethods") {
			failed.Message += "; " + words.OneLine(cmp.Or(way.text("description"), way.text("name")))
		}
	case e.Code >= 400 && e.Code < 600: // Gemini passes on what its server answered
		failed.Code, failed.Provider = messages.CauseProviderError, &messages.Provider{Status: e.Code}
	}
	return failed
}

// Line takes a message of the agent.
func (c *client) Line(text []byte) error {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Error  *rpcError       `json:"error"`
	}
	body := struct {
		Params object `json:"params"`
		Result object `json:"result"`
	}{}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	c.mu.Lock()
	defer c.mu.Unlock()
	if json.Unmarshal(text, &m) != nil || m.ID == nil && m.Method == "" {
		return c.Task.Log(messages.LogDebug, string(text)) // noise
	}
	if d.Decode(&body) != nil {
		body.Result = nil // a result that is no object says nothing
	}
	switch {
	case m.Method == "":
		var id int
		if json.Unmarshal(bytes.Trim(m.ID, `"`), &id) != nil || c.waiting[id] == nil { // some agents answer a number with a text
			return nil
		}
		then := c.waiting[id]
		delete(c.waiting, id)
		then(body.Result, m.Error)
		return nil
	case m.Method == "session/update" && c.began:
		return c.update(body.Params.object("update"))
	case m.Method == "$/cancel_request":
		if withdraw := c.asking[string(body.Params.json("requestId"))]; withdraw != nil {
			withdraw(messages.Errorf(messages.CodeWithdrawn, "%s has withdrawn the question", c.name))
		}
	case c.asking[string(m.ID)] != nil: // said twice
	case m.Method == "session/request_permission" && m.ID != nil:
		return c.permission(m.ID, body.Params)
	case m.Method == "elicitation/create" && m.ID != nil && body.Params.text("mode") != "url":
		c.elicit(m.ID, body.Params)
	case m.ID != nil:
		c.send(map[string]any{"id": m.ID, "error": rpcError{Code: -32601, Message: "lastword offers no " + m.Method}})
	}
	return nil
}

// Leave ends the agent in order: its turn, its stdin, and then TERM.
func (c *client) Leave(why error) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving = true
	turn, stdin := cancelGrace, stdinGrace
	if code := messages.CodeOf(why); why != nil && code != messages.CauseStalled && code != messages.CauseDeadline && code != messages.CodeCompactionLoop {
		turn, stdin = canceledIn, closedIn
	}
	if why == nil || c.prompting == 0 {
		turn = 0
	} else {
		c.canceled = true
		c.send(map[string]any{"method": "session/cancel", "params": map[string]any{"sessionId": c.session}})
		c.waiting[c.prompting] = func(result object, _ *rpcError) { // whatever it says after our cancel
			c.count(result)
			time.AfterFunc(50*time.Millisecond, func() { c.Stdin.Close() })
		}
	}
	time.AfterFunc(turn+50*time.Millisecond, func() { c.Stdin.Close() }) // what is to be written is
	return turn + stdin
}

// End returns the result, or why the run fails.
func (c *client) End(ctx context.Context, why, exit error) (any, error) {
	c.endAsks()
	c.hold.Stop()
	close(c.closed)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leaving = true
	keepErr := keepPatch(ctx, c.Task, c.look, c.config.Command)
	failed := cmp.Or(c.verdict(cmp.Or(context.Cause(ctx), why), exit), keepErr)
	if err := c.close(c.stop, failed); err != nil && failed == nil {
		return nil, err
	}
	return c.result(), failed
}

// verdict decides how the run ends. The agent's stop reason alone does not: it depends on who cancelled, and on what
// the agent said beside it.
func (c *client) verdict(why, exit error) error {
	switch {
	case why != nil:
		return c.stalled(why)
	case c.failed != nil:
		return c.failed
	case c.stop == "":
		return messages.Errorf(messages.CauseTransportClosed, "%s has ended before it answered: %v", c.name, cmp.Or(exit, fmt.Errorf("it exited with 0")))
	case c.stop == "max_tokens", c.stop == "max_turn_requests":
		return messages.LimitExceeded("%s has reached its own limit: %s", c.name, c.stop)
	case c.stop == "refusal":
		return messages.Errorf(codeRefused, "the model of %s refuses to go on", c.name)
	case c.stop == "cancelled":
		return messages.Errorf(codePermissionDenied, "%s has stopped, because it was refused: %s", c.name, cmp.Or(listed(c.refused), "a call"))
	case c.flagged != "":
		return messages.Errorf(messages.CauseProviderError, "the model's server has cut the answer of %s: %s", c.name, c.flagged)
	}
	return nil
}

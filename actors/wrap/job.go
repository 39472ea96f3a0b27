package wrap

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/wrapped"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/supervision"
)

// Name is the name of the job.
const Name = "tool"

func digestOf(text []byte) *wrapped.Digest {
	sum := sha256.Sum256(text)
	return &wrapped.Digest{Bytes: len(text), SHA256: hex.EncodeToString(sum[:])}
}

// Rule is the operator's word on a tool.
type Rule struct {
	// Repeat says whether a call is made again if it is not known to have ended: never, always, or "" for what the tool's
	// hints say, which count with Hints.
	Repeat string
	Hints  bool
	// Changed: the tool is not what it was when it was first seen. The run says so.
	Changed bool
	// Digest: the log keeps sizes and digests of arguments and result. Such a call is never made again.
	Digest bool
}

// Config says how tools are called.
type Config struct {
	// Call calls a tool and returns its result as the server wrote it. It starts the server if it is down. An error with
	// the method RPC() json.RawMessage is a JSON-RPC error of the server.
	Call wrapped.Func
	Rule func(server, tool string) Rule
	// Held gets results that the log must not hold.
	Held *Results
}

// Define returns the definition of the job tool.
func Define(c Config) actors.Definition {
	schema := json.RawMessage(`{"type":"object","additionalProperties":false,"required":["server","tool"],"properties":{` +
		`"server":{"type":"string","description":"name of the server"},"tool":{"type":"string","description":"name of its tool"},` +
		`"arguments":{"type":"object","description":"of the tool"}}}`)
	return actors.Definition{Name: Name, Restart: true, JobSpec: messages.JobSpec{Title: "Tool of another server",
		Description: "Calls a tool of an MCP server behind this one.", OpenWorld: true, Limits: messages.Limits{StallMS: stall.Milliseconds()},
		Input: func() json.RawMessage { return schema }},
		New: func(input json.RawMessage) (actors.Job, error) {
			var in wrapped.Input
			d := json.NewDecoder(bytes.NewReader(input))
			d.DisallowUnknownFields()
			if err := d.Decode(&in); err != nil || in.Server == "" || in.Tool == "" {
				return actors.Job{}, messages.InvalidInput("the input names a server, a tool and its arguments: %v", err)
			}
			w := &work{Config: c, in: in, rule: c.Rule(in.Server, in.Tool)}
			if w.rule.Digest && in.Digest == nil {
				in.Arguments, in.Digest = nil, digestOf(in.Arguments)
			}
			return actors.Job{Name: Name, Title: in.Server + "/" + in.Tool, Input: in, Tasks: []actors.Task{{Name: "call", Run: w.run}}}, nil
		}}
}

// stall is how long a tool may say nothing. Most say nothing until they have ended.
const stall = 24 * time.Hour

// work is a call in the making.
type work struct {
	Config
	in   wrapped.Input
	rule Rule
}

// repeats reports whether the call may be made again.
func (w *work) repeats() bool {
	switch {
	case w.rule.Digest || w.rule.Repeat == "never" || w.in.Here != "":
		return false
	case w.rule.Repeat == "always":
		return true
	}
	var shown struct {
		Annotations struct{ ReadOnlyHint, IdempotentHint bool }
	}
	_ = json.Unmarshal(w.in.Shown, &shown) // without hints nothing is repeated
	return w.rule.Hints && (shown.Annotations.ReadOnlyHint || shown.Annotations.IdempotentHint)
}

// callID is the name of the call in the run's events. An attempt that makes it again has another.
const callID = "call"

func (w *work) run(ctx context.Context, t *actors.TaskContext) error {
	id := callID
	if t.Attempt() > 1 {
		if err := w.recall(ctx, t); err != nil {
			return err
		}
		id = fmt.Sprintf("%s.%d", callID, t.Attempt())
	}
	if w.in.Digest != nil { // the input is of a log
		return messages.Errorf(messages.CauseError, "lastword ended before it made the call, and its log keeps no arguments; call again")
	}
	if w.rule.Changed {
		if err := t.Notice(messages.NoticeToolChanged, fmt.Sprintf("the tool %s of the server %s is not what it was when it was first seen", w.in.Tool, w.in.Server)); err != nil {
			return err
		}
	}
	started := messages.ToolStarted{Call: id, Tool: w.in.Tool, Arguments: w.in.Arguments}
	if w.rule.Digest {
		started.Arguments, _ = json.Marshal(digestOf(w.in.Arguments)) // numbers and texts
	}
	if err := t.Emit(started, w.in.Server+": "+w.in.Tool); err != nil {
		return err
	}
	raw, err := w.Config.Call(ctx, wrapped.Call{Input: w.in, Run: string(t.RunID()), Principal: t.Principal(), Key: string(t.RunID()), Ask: t.Ask,
		Progress: func(done, total float64, message string) { _ = t.Emit(progressOf(id, done, total), message) },
		Log:      func(level, text string) { _ = t.Log(logLevel(level), text) }})
	if err != nil {
		return w.failed(ctx, t, id, err)
	}
	if err := t.Conclude(messages.ToolCompleted{Call: id}, ""); err != nil {
		return err
	}
	if w.rule.Digest {
		w.Held.put(t.RunID(), raw)
		return t.Result(digestOf(raw), false)
	}
	return t.Result(raw, false)
}

// failed ends a call that the server has refused, or that has no result. If the server ended during a call that may be
// made again, another attempt does that.
func (w *work) failed(ctx context.Context, t *actors.TaskContext, id string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	done := messages.ToolCompleted{Call: id}
	var refused interface{ RPC() json.RawMessage }
	switch code := messages.CodeOf(err); {
	case errors.As(err, &refused):
		done.Error = messages.Errorf(messages.CauseError, "%s", err.Error())
		if !w.rule.Digest {
			done.Result = refused.RPC()
		}
	case code == messages.CauseTransportClosed && w.repeats():
		done.Error = messages.Errorf(code, "%v", err)
		done.Error.Retryable = true
	case code == messages.CauseTransportClosed:
		done.Error = messages.Errorf(code, "%v; the call may have happened", err)
	default:
		done.Error = messages.Errorf(cmp.Or(code, messages.CauseError), "%v", err)
	}
	if err := t.Conclude(done, ""); err != nil {
		return err
	}
	if done.Error.Retryable {
		return done.Error
	}
	return supervision.Permanent(done.Error)
}

// recall ends the run if an earlier attempt was lost and the call must not be made again. It ends that attempt's call.
func (w *work) recall(ctx context.Context, t *actors.TaskContext) error {
	open := ""
	for e, err := range t.Earlier(ctx) {
		if err != nil {
			return err
		}
		switch b := e.Body.(type) {
		case messages.ToolStarted:
			open = b.Call
		case messages.ToolCompleted:
			open = ""
		}
	}
	again := w.repeats()
	lost := messages.Errorf(messages.CauseNodeLost, "lastword ended during the call of %s of the server %s; it may have happened: look "+
		"before you call again", w.in.Tool, w.in.Server)
	if open != "" {
		done := *lost
		if again {
			done.Message = "lastword ended during the call, which is made again"
		}
		if err := t.Conclude(messages.ToolCompleted{Call: open, Error: &done}, done.Message); err != nil {
			return err
		}
	}
	if again {
		return nil
	}
	return supervision.Permanent(lost)
}

// progressOf keeps fractions as thousandths.
func progressOf(id string, done, total float64) messages.ToolProgress {
	p := messages.ToolProgress{Call: id, Done: int64(done), Total: int64(total)}
	if float64(p.Done) != done || float64(p.Total) != total {
		p.Done, p.Total, p.Unit = int64(done*1000), int64(total*1000), "‰"
	}
	return p
}

// logLevel returns the level of the log that is next to a level of MCP.
func logLevel(level string) messages.LogLevel {
	switch level {
	case "debug":
		return messages.LogDebug
	case "info", "notice", "":
		return messages.LogInfo
	case "warning":
		return messages.LogWarn
	}
	return messages.LogError
}

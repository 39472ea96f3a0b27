package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// reading reads a line of one agent.
type reading func(h *headless, line object) error

// headless reads the JSON lines that an agent prints. No format has a version: a line of an unknown type is a line of
// the log.
type headless struct {
	turn
	denied  bool        // a refused call is no failure
	json    bool        // it has printed JSON
	timer   *time.Timer // runs since the last word; nil without one
	said    bool        // the last word
	stop    string
	failed  *messages.Error // what the last word says
	left    bool            // it was asked to end
	refused []string        // calls that nobody was asked about
	whole   map[string]bool // messages that came in pieces, so that their whole text says nothing new
	broken  string          // an error that nothing has followed
}

// Headless returns what reads the lines of an agent that is started for programs. allowDenied: a run whose agent was
// refused a call does not fail for that. Errors: invalid_input.
func Headless(name string, allowDenied bool) (func(command.Spoken) command.Speaker, error) {
	return readerOf(name, allowDenied, false)
}

func readerOf(name string, allowDenied, behindDoor bool) (func(command.Spoken) command.Speaker, error) {
	of := agents[name]
	if of.headless == nil {
		return nil, messages.InvalidInput("there is no reader for the lines of %q%s; name another agent", name, words.Meant(name, Names(true)))
	}
	return func(s command.Spoken) command.Speaker {
		h := &headless{turn: newTurn(name, of, s, behindDoor), denied: allowDenied, whole: map[string]bool{}}
		h.busy = func() { // it goes on after all
			if h.broken = ""; h.timer != nil {
				h.timer.Stop()
				h.timer = nil
			}
		}
		return h
	}, nil
}

// Line takes a line.
func (h *headless) Line(text []byte) error {
	var line object
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&line) != nil || line.text("type") == "" {
		if bytes.Contains(text, []byte("permission requested")) { // OpenCode says so in words
			return h.unseen(object{})
		}
		return h.Task.Log(messages.LogInfo, string(text))
	}
	if !h.json {
		h.json = true
		h.session = line.either("session_id", "sessionID", "thread_id")
		h.model = nameOf(line.text("model"))
		if err := h.works(); err != nil {
			return err
		}
	}
	kind := line.text("type") + " " + line.text("subtype")
	if strings.Contains(kind, "permission") && (strings.Contains(kind, "ask") || strings.Contains(kind, "request")) || strings.Contains(line.text("request.subtype"), "can_use_tool") {
		return h.unseen(line)
	}
	return h.headless(h, line)
}

// over notes that the agent ends by itself now, or is ended soon.
func (h *headless) over() {
	if h.timer == nil {
		h.timer = time.AfterFunc(linger, func() { h.Over(nil) })
	}
}

// again notes that the agent begins another turn: its word before was not its last.
func (h *headless) again() error {
	h.said = false
	return h.works()
}

// word is the agent's last word. An empty code means success.
func (h *headless) word(stop string, code messages.Code, says string) {
	h.said, h.stop, h.failed = true, stop, nil
	if code != "" {
		h.failed = messages.Errorf(code, "%s has failed: %s", h.name, messages.Bound(words.OneLine(says), 1<<10))
	}
	h.over()
}

// unseen notes a question that nobody can answer, because the agent has no stdin and no protocol.
func (h *headless) unseen(line object) error {
	h.refuse(line.either("tool_name", "request.tool_name", "part.tool", "permission", "tool"))
	h.over()
	return h.Task.Log(messages.LogWarn, h.name+" asks for a permission, which nobody sees")
}

// refuse notes a call that was refused unasked.
func (h *headless) refuse(tool string) {
	if tool = strings.TrimSpace(words.OneLine(tool)); tool == "" {
		tool = "a tool"
	}
	if !slices.Contains(h.refused, tool) {
		h.refused = append(h.refused, tool)
	}
}

// Leave lets the agent end by TERM: it has no other way.
func (h *headless) Leave(error) time.Duration {
	h.left = true
	return 0
}

// End returns the result, or why the run fails.
func (h *headless) End(_ context.Context, why, exit error) (any, error) {
	if h.timer != nil {
		h.timer.Stop()
	}
	failed := h.verdict(why, exit)
	if failed == nil && h.said && (h.left || exit != nil) {
		if h.left {
			exit = nil
		}
		if err := h.lingered(exit); err != nil {
			return nil, err
		}
	}
	if err := h.close(h.stop, failed); err != nil && failed == nil {
		return nil, err
	}
	return h.result(), failed
}

// verdict decides by the agent's last word, and without one by what came instead.
func (h *headless) verdict(why, exit error) error {
	switch code := messages.CodeOf(why); {
	case why != nil && code != messages.CauseStalled:
		return why
	case h.said && h.failed != nil:
		return h.failed
	case len(h.refused) > 0 && !h.denied:
		return messages.Errorf(codePermissionDenied, "%s was refused %s, and nobody was asked; allow it in the agent's settings, "+
			"run lastword agent %s, which asks, or give --allow-denied", h.name, listed(h.refused), h.name)
	case h.said:
		return nil
	case why != nil && !h.json:
		return messages.Errorf(messages.CauseStalled, "%v that %s says in JSON; start it with its flags for JSON lines", why, h.name)
	case why != nil:
		return h.stalled(why)
	case h.retries > 0:
		return messages.Errorf(messages.CauseProviderError, "%s has ended while it asked its model again: %s", h.name, h.retried)
	case h.broken != "":
		return messages.Errorf(messages.CauseProviderError, "%s has failed: %s", h.name, words.OneLine(h.broken))
	case exit != nil:
		return exit
	case h.json:
		return messages.Errorf(messages.CauseTransportClosed, "%s has ended with 0 before its last word; its answer may not be whole", h.name)
	}
	return nil
}

// unknown logs a line that nobody reads.
func (h *headless) unknown(line object) error {
	return h.Task.Log(messages.LogDebug, "a line of type "+strings.TrimSpace(line.text("type")+" "+line.text("subtype")))
}

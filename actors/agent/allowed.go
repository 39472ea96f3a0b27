package agent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// always is what a permanent answer covers: later calls that are the same, by the same agent, for the same caller, in the
// same root. lastword keeps it, and tells the agent to allow one call: so the user can take it back.
type always struct {
	what, pin string
	once      string   // the agent's option for one call
	wide      []string // the agent's options for more
}

// cover returns what a permanent answer covers, or the zero always if nothing can be kept.
func (c *client) cover(call *call, of object, options []object) always {
	var a always
	for _, o := range options {
		switch id := o.text("optionId"); o.text("kind") {
		case "allow_once":
			a.once = cmp.Or(a.once, id)
		case "allow_always":
			a.wide = append(a.wide, id)
		}
	}
	if c.config.Allowed == nil || a.once == "" || len(a.wide) == 0 || of.text("kind") == "switch_mode" {
		return always{}
	}
	same := fmt.Sprintf("%s %s", cmp.Or(of.text("title"), call.tool), c.sameArguments(call))
	if paths := pathsOf(of); len(paths) > 0 && of.text("kind") == "edit" {
		same = "any change of " + listed(paths)
	} else if isEmpty(call.arguments) {
		same += messages.Digest(string(of.json("content")))
	}
	tool := cmp.Or(call.tool, of.text("kind"))
	a.what = fmt.Sprintf("%s in %s: %s, %s", c.name, c.config.root, tool, words.OneLine(same))
	a.pin = messages.Digest(strings.Join([]string{c.config.program, c.config.root, c.Task.Principal(), tool, same}, "\x00"))
	return a
}

// sameArguments are a call's arguments without what the model says of the call for people.
func (c *client) sameArguments(call *call) string {
	var members map[string]json.RawMessage
	if remark := c.remarks[call.tool]; remark != "" && json.Unmarshal(call.arguments, &members) == nil {
		delete(members, remark)
		text, _ := json.Marshal(members) // it was JSON
		return string(text)
	}
	return string(call.arguments)
}

// pathsOf are the files that a call changes.
func pathsOf(of object) (paths []string) {
	for _, l := range append(of.list("locations"), of.list("content")...) {
		if path := l.text("path"); path != "" && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// id names what is kept.
func (a always) id() string { return a.pin[:min(len(a.pin), 12)] }

// isKept reports whether a person has given the answer before. The log says which one it is.
func (c *client) isKept(a always) (bool, error) {
	if a.pin == "" {
		return false, nil
	}
	has, err := c.config.Allowed.Has(a.pin)
	if err == nil && has {
		err = c.Task.Log(messages.LogInfo, fmt.Sprintf("allowed by %s, a permanent answer: %s", a.id(), a.what))
	}
	return has, err
}

// keep keeps the answer, if it is permanent, and returns the one for the agent.
func (c *client) keep(a always, chosen string) string {
	if a.pin == "" || !slices.Contains(a.wide, chosen) {
		return chosen
	}
	says := fmt.Sprintf("allowed permanently as %s: %s", a.id(), a.what)
	if err := c.config.Allowed.Add(a.what, a.pin); err != nil {
		says = fmt.Sprintf("allowed once, because the list cannot be written: %v", err)
	}
	_ = c.Task.Log(messages.LogInfo, says) // the agent gets its answer anyway
	return a.once
}

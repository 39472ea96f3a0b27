//go:build unix

package lab_test

import (
	"encoding/json"
	"fmt"

	"github.com/seed889630bf/lastword/messages"
)

// published is a plan that waits for people between a file that it writes and a step that reads it.
const published = `
steps:
  - {name: draft, write: {name: draft.txt, text: a draft}}
  - {name: sure, needs: draft, ask: {prompt: "Publish?", schema: {type: boolean}}}
  - {name: text, needs: sure, read: {run: "${steps.draft.run}", name: draft.txt}}
  - {name: out, needs: text, write: {name: out.txt, text: "${steps.text.result.text}, published"}}
result: ${steps.text.result.text}
`

// plan kills the node of a plan that waits. Another goes on after the last step that ended, with its files.
func (c *cluster) plan() {
	const victim, reader = 0, 1
	input, err := json.Marshal(map[string]any{"plan": published})
	must(c, err)
	run := c.begin(victim, 1, messages.Request{Job: "plan", Input: input})[0]
	state, err := c.follow(reader, run, func(e messages.Event) {
		if asked, ok := e.Body.(messages.InputRequired); ok {
			c.nodes[victim].kill()
			if err := c.at(2).Answer(c.Context(), run, asked.Request, json.RawMessage(`true`)); err != nil {
				c.Errorf("an answer while no node has the run: %v", err)
			}
		}
	})
	if err == nil {
		err = continued(state)
	}
	if err == nil && (string(state.End.Result) != `"a draft"` || len(state.Children) != 3) {
		err = fmt.Errorf("%d sub-runs come to %s", len(state.Children), state.End.Result)
	}
	must(c, err)
	c.nodes[victim].start()
	c.nodes[victim].waitReady(c)
}

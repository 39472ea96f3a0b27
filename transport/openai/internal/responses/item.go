package responses

import (
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
	"github.com/seed889630bf/lastword/transport/openai/internal/api"
)

// prefixes are the prefixes of item ids.
var prefixes = map[transcript.Kind]string{transcript.Text: "msg_", transcript.Thought: "rs_", transcript.Tool: "mcp_", transcript.Question: "fc_"}

// item is an item of the output.
type item struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	Role      string    `json:"role,omitempty"`
	Status    string    `json:"status"`
	Content   *[]part   `json:"content,omitempty"` // of texts
	Summary   *[]string `json:"summary,omitempty"`
	Server    string    `json:"server_label,omitempty"`
	CallID    string    `json:"call_id,omitempty"`
	Name      string    `json:"name,omitempty"`
	Namespace string    `json:"namespace,omitempty"`
	Arguments *string   `json:"arguments,omitempty"`
	Input     *string   `json:"input,omitempty"` // of a custom tool, which has no arguments
	Output    *string   `json:"output,omitempty"`
	Error     *string   `json:"error,omitempty"`

	index   int
	of      *transcript.Item
	begun   int  // how much of the text belongs to an earlier response
	dropped bool // the item was taken back
}

// part is a part of an item's content. Annotations and Logprobs are empty lists where clients demand them, else nil.
type part struct {
	Type        string    `json:"type"`
	Text        string    `json:"text"`
	Annotations *[]string `json:"annotations,omitempty"`
	Logprobs    *[]string `json:"logprobs,omitempty"`
}

// part returns the content of the item.
func (i *item) part(text string) part {
	if i.Type == "reasoning" {
		return part{Type: "reasoning_text", Text: text}
	}
	return part{Type: "output_text", Text: text, Annotations: &[]string{}, Logprobs: &[]string{}}
}

// event returns the prefix of the names of a text's events.
func (i *item) event() string {
	if i.Type == "reasoning" {
		return "response.reasoning_text."
	}
	return "response.output_text."
}

// text returns the text of the item within this response.
func (i *item) text() string { return i.of.Text()[min(i.begun, i.of.Len()):] }

// now returns the item with its text so far.
func (i *item) now() item {
	shown := *i
	if i.Content != nil && i.Status == "in_progress" && i.of.Len() > i.begun {
		shown.Content = &[]part{i.part(i.text())}
	}
	return shown
}

// item returns the output item of an operation. If the item began in an earlier response, it begins it again.
func (r *response) item(op *transcript.Op) *item {
	if i := r.find(op); i != nil {
		return i
	}
	i := &item{ID: prefixes[op.Item.Kind] + op.ID, Status: "in_progress", index: len(r.output), of: op.Item}
	r.output = append(r.output, i)
	added := func() { r.added(i) }
	switch op.Item.Kind {
	case transcript.Tool:
		tool, arguments := op.Item.Call()
		i.Type, i.Server, i.Name, i.Arguments = "mcp_call", "lastword", tool, new(string(arguments))
		added()
		r.emitOf(i, "response.mcp_call.in_progress", fields{})
	case transcript.Question: // the client answers it with a function_call_output
		b := op.Item.Asked()
		i.Type, i.CallID, i.Name = "function_call", b.Request, "ask"
		r.call(i, string(door.JSON(fields{"prompt": b.Prompt, "schema": b.Schema})))
	default:
		i.Type, i.Role, i.Content, i.begun = "message", "assistant", &[]part{}, op.Offset
		if op.Item.Kind == transcript.Thought {
			i.Type, i.Role, i.Summary = "reasoning", "", &[]string{}
		}
		added()
		r.emitOf(i, "response.content_part.added", fields{"content_index": 0, "part": i.part("")})
	}
	return i
}

func (r *response) added(i *item) {
	r.emit("response.output_item.added", fields{"output_index": i.index, "item": i})
}

// call writes an item that the client must answer. Its content is complete.
func (r *response) call(i *item, says string) {
	event, name, member := "response.function_call_arguments.", "arguments", &i.Arguments
	if i.Type == "custom_tool_call" {
		event, name, member = "response.custom_tool_call_input.", "input", &i.Input
	}
	*member = new("")
	r.added(i)
	**member = says
	r.emitOf(i, event+"delta", fields{"delta": says})
	r.emitOf(i, event+"done", fields{name: says, "name": i.Name})
	r.close(i, "completed")
}

// callTools writes the calls of the client's tools, which end the run.
func (r *response) callTools(end model.Ending) {
	for _, c := range api.Calls(r.queued, end) {
		i := &item{ID: "fc_" + c.ID, Type: "function_call", Status: "in_progress", CallID: c.ID, Name: c.Name, Namespace: c.Namespace, index: len(r.output)}
		r.output = append(r.output, i)
		if c.Custom {
			i.ID, i.Type = "ctc_"+c.ID, "custom_tool_call"
		}
		r.call(i, c.Arguments)
	}
}

// emitOf writes an event of an item.
func (r *response) emitOf(i *item, name string, data fields) {
	data["item_id"], data["output_index"] = i.ID, i.index
	r.emit(name, data)
}

// finish writes the final text of an item. A text that was cut is incomplete.
func (r *response) finish(i *item, cut bool) {
	text, status := i.text(), "completed"
	if cut {
		status = "incomplete"
	}
	*i.Content = []part{i.part(text)}
	r.emitOf(i, i.event()+"done", fields{"content_index": 0, "text": text, "logprobs": []string{}})
	r.emitOf(i, "response.content_part.done", fields{"content_index": 0, "part": i.part(text)})
	r.close(i, status)
}

func (r *response) close(i *item, status string) {
	i.Status = status
	r.emit("response.output_item.done", fields{"output_index": i.index, "item": i})
}

// numberBits is the number of bits of a sequence_number that count from the last milestone on.
const numberBits = 26

// number computes the sequence_number of the newest event.
type number struct {
	milestone, position uint64
	after               uint64 // the client has everything up to this number
	found               bool   // an event has exactly the number after
	mixed               bool   // the event merges deltas of several texts, whose order is lost
}

func (n *number) value() uint64 { return n.milestone<<numberBits + n.position }

// count moves to the event of the operation. A milestone restarts the position.
func (n *number) count(op *transcript.Op) {
	texts := 0
	for _, p := range op.Parts {
		switch p.(type) {
		case messages.TextDelta, messages.ThoughtDelta:
			texts++
		}
	}
	if n.mixed = texts > 1; !op.Event.IsDelta() && op.Seq() != n.milestone {
		n.milestone, n.position = op.Seq(), 0
	}
}

// step counts an event, or size bytes of text. It reports whether the client lacks any of it.
func (n *number) step(size int) (lacks bool) {
	from := n.value()
	n.position += uint64(size)
	now := n.value()
	n.found = n.found || n.after == now || from < n.after && n.after < now && !n.mixed
	return now > n.after
}

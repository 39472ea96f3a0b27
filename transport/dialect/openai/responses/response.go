package responses

import (
	"cmp"
	"encoding/json"
	"maps"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/dialect"
	"github.com/seed889630bf/lastword/transport/dialect/openai"
	"github.com/seed889630bf/lastword/transport/gate"
	"github.com/seed889630bf/lastword/transport/view"
)

type fields = map[string]any

// numberBits are those of a sequence_number that count from the last milestone on.
const numberBits = 26

// response is a segment of a run, as an object and as a stream of events.
type response struct {
	run     messages.RunID
	segment int
	stream  *dialect.Stream // nil writes no events
	after   uint64          // events up to the number are not written

	tally  openai.Tally
	output []*item
	items  map[string]*item // by their ids
	queued messages.RunQueued
	at     int64 // when the run began
	status string
	failed *messages.Error
	short  string // why the answer is incomplete

	milestone, position uint64
	mixed               bool // the event stands for deltas of several texts, whose order is lost
	known               bool // the milestone of after was there
	lost                bool // after cannot be found
	ended               bool
}

func newResponse(run messages.RunID, segment int) *response {
	return &response{run: run, segment: segment, items: map[string]*item{}}
}

// responding is the table of the format.
var responding = &view.Dialect[*response]{
	Policy: view.Supersede,
	Table: view.Table[*response]{
		view.Run:      {view.Open: (*response).create, view.Update: (*response).update, view.End: (*response).end},
		view.Text:     {view.Open: (*response).open, view.Append: (*response).append, view.Done: (*response).done},
		view.Thought:  {view.Open: (*response).open, view.Append: (*response).append, view.Done: (*response).done},
		view.Tool:     {view.Open: (*response).open, view.Done: (*response).done},
		view.Question: {view.Open: (*response).open, view.Wait: (*response).wait},
	},
	Rewind: func(r *response, op *view.Op) {
		if r.count(op); op.Item.Kind == view.Text || op.Item.Kind == view.Thought {
			r.drop(op)
		}
	},
	Heartbeat: func(r *response) {
		if r.status == "" { // clients want response.created first
			r.stream.WriteString(":\n")
			return
		}
		r.emit("keepalive", 0, fields{})
	},
	Refuse: func(r *response, err error) {
		p := gate.ProblemOf(err)
		r.emit("error", 0, fields{"code": p.Code, "message": p.Detail, "param": nil})
	},
}

func init() {
	for kind := range responding.Table {
		for do, write := range responding.Table[kind] {
			responding.Table[kind][do] = func(r *response, op *view.Op) {
				r.count(op)
				if write != nil && !r.ended {
					write(r, op)
				}
			}
		}
	}
}

// item is an item of the output.
type item struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	Role      string    `json:"role,omitempty"`
	Status    string    `json:"status"`
	Content   *[]part   `json:"content,omitempty"`
	Summary   *[]string `json:"summary,omitempty"`
	Server    string    `json:"server_label,omitempty"`
	CallID    string    `json:"call_id,omitempty"`
	Name      string    `json:"name,omitempty"`
	Arguments *string   `json:"arguments,omitempty"`
	Output    *string   `json:"output,omitempty"`
	Error     *string   `json:"error,omitempty"`

	index   int
	of      *view.Item
	begun   int  // of its text, what is an earlier response's
	dropped bool // it does not count any more
}

type part struct {
	Type        string    `json:"type"`
	Text        string    `json:"text"`
	Annotations *[]string `json:"annotations,omitempty"`
	Logprobs    *[]string `json:"logprobs,omitempty"`
}

func (i *item) part(text string) part {
	if i.Type == "reasoning" {
		return part{Type: "reasoning_text", Text: text}
	}
	return part{Type: "output_text", Text: text, Annotations: &[]string{}, Logprobs: &[]string{}}
}

// event begins the names of the events of a text.
func (i *item) event() string {
	if i.Type == "reasoning" {
		return "response.reasoning_text."
	}
	return "response.output_text."
}

func (i *item) isText() bool { return i.Content != nil }

// text is what the item says in this response.
func (i *item) text() string { return i.of.Text()[min(i.begun, i.of.Len()):] }

// over says that nothing more of the response comes.
func (r *response) over(*view.Transcript) bool { return r.ended || r.lost }

// count begins to count anew from a milestone on.
func (r *response) count(op *view.Op) {
	r.tally.Add(op)
	if r.mixed = texts(op.Parts) > 1; op.Event.IsDelta() || op.Seq() == r.milestone {
		return
	}
	if r.after>>numberBits == r.milestone && r.after > r.number() {
		r.lost = r.after > 0
	}
	r.milestone, r.position = op.Seq(), 0
	r.known = r.known || r.after>>numberBits == r.milestone
}

func texts(parts []messages.Body) (n int) {
	for _, p := range parts {
		switch p.(type) {
		case messages.TextDelta, messages.ThoughtDelta:
			n++
		}
	}
	return n
}

func (r *response) number() uint64 { return r.milestone<<numberBits + r.position }

// current says that the run is in this response's segment.
func (r *response) current() bool { return r.status != "" && !r.ended }

// emit writes an event of the size in numbers.
func (r *response) emit(name string, size uint64, data fields) {
	r.position += size
	if r.stream == nil || size > 0 && r.number() <= r.after {
		return
	}
	data["type"], data["sequence_number"] = name, r.number()
	r.stream.Event("", name, data)
}

// begin begins the segment.
func (r *response) begin() {
	r.status = "queued"
	if r.segment > 1 {
		r.status = "in_progress"
	}
	r.emit("response.created", 1, fields{"response": r.object()})
	r.emit("response."+r.status, 1, fields{"response": r.object()})
}

func (r *response) create(op *view.Op) {
	r.queued, r.at = op.Run.Queued, op.Event.Time.Unix()
	if r.segment == 1 {
		r.begin()
	}
}

func (r *response) update(op *view.Op) {
	if _, started := op.Event.Body.(messages.RunStarted); started && r.current() {
		r.status = "in_progress"
		r.emit("response.in_progress", 1, fields{"response": r.object()})
	}
}

// open begins an item.
func (r *response) open(op *view.Op) {
	if r.current() {
		r.item(op)
	}
}

// item is the wire's item, which it begins if an earlier response had its beginning.
func (r *response) item(op *view.Op) *item {
	prefix := map[view.Kind]string{view.Text: "msg_", view.Thought: "rs_", view.Tool: "mcp_", view.Question: "fc_"}[op.Item.Kind]
	id := prefix + op.ID
	if i := r.items[id]; i != nil {
		return i
	}
	i := &item{ID: id, Status: "in_progress", index: len(r.items), of: op.Item}
	switch b := op.Item.Opened.(type) {
	case messages.ToolStarted:
		i.Type, i.Server, i.Name, i.Arguments = "mcp_call", "lastword", b.Tool, new(cmp.Or(string(b.Arguments), "{}"))
	case messages.InputRequired:
		arguments, _ := json.Marshal(fields{"prompt": b.Prompt, "schema": b.Schema}) // texts and JSON
		i.Type, i.CallID, i.Name, i.Arguments = "function_call", b.Request, "ask", new("")
		defer func() { r.ask(i, string(arguments)) }()
	default:
		i.Content, i.begun = &[]part{}, op.Offset
		if i.Type, i.Role = "message", "assistant"; op.Item.Kind == view.Thought {
			i.Type, i.Role, i.Summary = "reasoning", "", &[]string{}
		}
	}
	r.items[id], r.output = i, append(r.output, i)
	r.emit("response.output_item.added", 1, fields{"output_index": i.index, "item": i})
	switch {
	case i.isText():
		r.emitOf(i, "response.content_part.added", fields{"content_index": 0, "part": i.part("")})
	case i.Type == "mcp_call":
		r.emitOf(i, "response.mcp_call.in_progress", fields{})
	}
	return i
}

// emitOf writes an event of an item.
func (r *response) emitOf(i *item, name string, data fields) {
	data["item_id"], data["output_index"] = i.ID, i.index
	r.emit(name, 1, data)
}

// ask writes the call that the client answers with a function_call_output.
func (r *response) ask(i *item, arguments string) {
	*i.Arguments = arguments
	r.emitOf(i, "response.function_call_arguments.delta", fields{"delta": arguments})
	r.emitOf(i, "response.function_call_arguments.done", fields{"arguments": arguments, "name": i.Name})
	r.close(i)
}

// append writes a piece of a text: a delta, or the part of it that the client lacks.
func (r *response) append(op *view.Op) {
	if !r.current() {
		return
	}
	i, text := r.item(op), op.Text
	from := r.number()
	r.position += uint64(len(text))
	if r.stream == nil && r.after == 0 || r.number() <= r.after {
		return
	}
	if from < r.after {
		if r.mixed {
			r.lost = true
			return
		}
		text = text[r.after-from:]
	}
	if r.stream != nil {
		r.stream.Event("", i.event()+"delta", &textDelta{i.event() + "delta", r.number(), i.ID, i.index, 0, text, []string{}})
	}
}

// textDelta is the event that there are most of.
type textDelta struct {
	Type     string   `json:"type"`
	Number   uint64   `json:"sequence_number"`
	Item     string   `json:"item_id"`
	Output   int      `json:"output_index"`
	Content  int      `json:"content_index"`
	Delta    string   `json:"delta"`
	Logprobs []string `json:"logprobs"`
}

// done ends an item.
func (r *response) done(op *view.Op) {
	if !r.current() {
		return
	}
	i := r.item(op)
	result, _ := op.Event.Body.(messages.ToolCompleted)
	switch {
	case i.isText():
		if op.Cut {
			i.Status = "incomplete"
		}
		r.finish(i)
		return
	case op.Cut:
		i.Status, i.Error = "failed", new("the call has no result")
	case result.Error != nil:
		i.Status, i.Error = "failed", &result.Error.Message
	default:
		i.Status, i.Output = "completed", new(string(result.Result))
	}
	r.emitOf(i, "response.mcp_call."+i.Status, fields{})
	r.close(i)
}

// finish says what a text is.
func (r *response) finish(i *item) {
	text := i.text()
	*i.Content = []part{i.part(text)}
	r.emitOf(i, i.event()+"done", fields{"content_index": 0, "text": text, "logprobs": []string{}})
	r.emitOf(i, "response.content_part.done", fields{"content_index": 0, "part": i.part(text)})
	r.close(i)
}

func (r *response) close(i *item) {
	if i.Status == "in_progress" {
		i.Status = "completed"
	}
	r.emit("response.output_item.done", 1, fields{"output_index": i.index, "item": i})
}

// drop ends a text that was taken back: another item takes its place.
func (r *response) drop(op *view.Op) {
	i := r.items[map[view.Kind]string{view.Text: "msg_", view.Thought: "rs_"}[op.Item.Kind]+op.ID]
	if i == nil || i.dropped {
		return
	}
	if i.dropped = true; i.Status == "in_progress" && r.current() {
		i.Status = "incomplete"
		r.close(i)
	}
}

// wait ends the segment, or comes before it.
func (r *response) wait(op *view.Op) {
	switch {
	case r.current():
		r.finishAll()
		r.complete("completed")
	case op.Run.Segment == r.segment-1:
		r.begin()
	}
}

// finishAll ends the texts that go on in the next response.
func (r *response) finishAll() {
	for _, i := range r.output {
		if i.isText() && i.Status == "in_progress" {
			r.finish(i)
		}
	}
}

func (r *response) end(op *view.Op) {
	if !r.current() {
		return
	}
	switch b := op.Event.Body.(type) {
	case messages.RunFailed:
		r.failed = b.Error
		r.complete("failed")
	case messages.RunCanceled: // no event is named after it
		r.status, r.ended = "cancelled", true
		r.emit("response.incomplete", 1, fields{"response": r.object()})
	default:
		r.short = map[string]string{"length": "max_output_tokens", "content_filter": "content_filter"}[r.tally.Reason()]
		if r.short != "" {
			r.complete("incomplete")
			return
		}
		r.complete("completed")
	}
}

func (r *response) complete(status string) {
	r.status, r.ended = status, true
	r.emit("response."+status, 1, fields{"response": r.object()})
}

// object is the response as it is now.
func (r *response) object() fields {
	output := []item{}
	for _, i := range r.output {
		if i.dropped {
			continue
		}
		shown := *i
		if i.isText() && i.Status == "in_progress" && i.of.Len() > i.begun {
			shown.Content = &[]part{i.part(i.text())}
		}
		output = append(output, shown)
	}
	metadata := maps.Clone(r.queued.Labels)
	delete(metadata, messages.TraceLabel)
	o := fields{"id": responseID(r.run, r.segment), "object": "response", "created_at": r.at, "status": r.status,
		"error": nil, "incomplete_details": nil, "instructions": nil, "model": r.queued.Job, "output": output,
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": []string{}, "metadata": metadata,
		"temperature": nil, "top_p": nil, "previous_response_id": nil}
	if r.segment > 1 {
		o["previous_response_id"] = responseID(r.run, r.segment-1)
	}
	if r.failed != nil {
		o["error"] = fields{"code": "server_error", "message": strings.TrimSpace(string(r.failed.Code) + ": " + r.failed.Message)}
	}
	if r.short != "" {
		o["incomplete_details"] = fields{"reason": r.short}
	}
	if r.ended {
		t := r.tally.Tokens
		o["usage"] = fields{"input_tokens": t.PromptTokens, "output_tokens": t.CompletionTokens,
			"total_tokens": t.PromptTokens + t.CompletionTokens, "input_tokens_details": fields{"cached_tokens": 0},
			"output_tokens_details": fields{"reasoning_tokens": t.ReasoningTokens}}
	}
	return o
}

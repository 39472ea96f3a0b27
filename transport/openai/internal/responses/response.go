package responses

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/transcript"
	"github.com/seed889630bf/lastword/transport/openai/internal/api"
)

type fields = map[string]any

// response is a segment of a run, both as an object and as a stream of events.
type response struct {
	door.SegmentWriter
	segment int
	number

	tally   api.Tally
	output  []*item
	queued  messages.RunQueued
	created time.Time
	status  string        // "" before the segment begins
	problem *auth.Problem // why the run failed, or nil
	short   fields        // the reason, if the response is incomplete
}

// responding is the dialect of response.
var responding = func() *transcript.Dialect[*response] {
	table := transcript.Each((*response).do)
	table[transcript.Run] = transcript.Each((*response).update)[0]
	return &transcript.Dialect[*response]{
		Policy: transcript.Supersede,
		Table:  table,
		Rewind: (*response).do,
		Heartbeat: func(r *response) {
			if r.status == "" { // clients expect response.created first
				_, _ = r.Out.WriteString(":\n") // Flush reports the error
				return
			}
			r.write("keepalive", fields{})
		},
		Refuse: func(r *response, err error) {
			why := auth.ProblemOf(err)
			r.write("error", fields{"code": why.Code, "message": why.Detail, "param": nil})
		},
	}
}()

// id returns the response id of a segment.
func (r *response) id(segment int) string {
	return "resp_" + string(r.Run) + "_" + strconv.Itoa(segment)
}

// do writes an operation. Kinds without a prefix have no item in a response.
func (r *response) do(op *transcript.Op) {
	r.count(op)
	switch isText := op.Item.Kind == transcript.Text || op.Item.Kind == transcript.Thought; {
	case op.Do == transcript.Wait:
		r.wait()
	case prefixes[op.Item.Kind] == "":
	case op.Do == transcript.Open:
		r.item(op)
	case op.Do == transcript.Append:
		r.append(op)
	case op.Do == transcript.Retract && isText:
		r.drop(op)
	case op.Do == transcript.Done && isText:
		if i := r.find(op); i != nil { // nil if it belongs to an earlier response
			r.finish(i, op.Cut || op.Item.IsAnswer() && op.Run.Ending().Reason.Cut())
		}
	case op.Do == transcript.Done && op.Item.Kind == transcript.Tool:
		r.result(op)
	}
}

// emit writes the next event, unless the client has it.
func (r *response) emit(name string, data fields) {
	if r.step(1) {
		r.write(name, data)
	}
}

func (r *response) write(name string, data fields) {
	data["type"], data["sequence_number"] = name, r.value()
	r.Frame(name, data)
}

// tell writes an event that contains the response.
func (r *response) tell(event string) { r.emit("response."+event, fields{"response": r.object()}) }

// update begins and ends the response with the run. If the segment follows a question, the response begins at the
// question.
func (r *response) update(op *transcript.Op) {
	r.tally.Add(op)
	r.count(op)
	if r.status == "" {
		r.queued, r.created, r.status = op.Run.Queued, op.Event.Time, "queued"
		if r.segment > 1 {
			r.status = "in_progress"
		}
		r.tell("created")
		r.tell(r.status)
	}
	switch b := op.Event.Body.(type) {
	case messages.RunStarted:
		if r.status == "queued" {
			r.status = "in_progress"
			r.tell("in_progress")
		}
	case messages.RunFailed:
		r.problem = door.Failure(b).Problem()
		r.end("failed", "failed")
	case messages.RunCanceled:
		r.end("cancelled", "incomplete") // the API has no event of that name
	case messages.RunCompleted:
		end := op.Run.Ending()
		r.callTools(end)
		status := "completed"
		if why := shortBy[end.Reason]; why != "" {
			status, r.short = "incomplete", fields{"reason": why}
		}
		r.end(status, status)
	}
}

// failed returns the error of a run that failed, or nil. Codex gives up after some codes, and retries after any other:
// so a failure that a retry can mend has none of these, and any other has one.
func (r *response) failed() fields {
	if r.problem == nil {
		return nil
	}
	e := api.FailureOf(r.problem).Error
	switch {
	case slices.Contains(final, e.Code) && !r.problem.Retryable, e.Code == string(messages.CodeProviderAuth), e.Code == "rate_limit_exceeded":
	case r.problem.Retryable:
		e.Code = "server_error"
	default:
		e.Code = "invalid_prompt"
	}
	return fields{"code": e.Code, "type": e.Type, "message": r.problem.Code + ": " + e.Message}
}

// final are the codes after which Codex gives up.
var final = []string{"context_length_exceeded", "insufficient_quota", "usage_not_included", "cyber_policy"}

// shortBy is the reason for an incomplete response, by how the answer ended.
var shortBy = map[model.Reason]string{model.Length: "max_output_tokens", model.Filter: "content_filter"}

func (r *response) end(status, event string) {
	r.status, r.Over = status, true
	r.tell(event)
}

// wait ends the response at a question. Unfinished texts continue in the next response.
func (r *response) wait() {
	for _, i := range r.output {
		if i.Content != nil && i.Status == "in_progress" {
			r.finish(i, false)
		}
	}
	r.end("completed", "completed")
}

// append writes the part of a piece of text that the client does not have.
func (r *response) append(op *transcript.Op) {
	i, from := r.item(op), r.value()
	if r.step(len(op.Text)) {
		name, lacks := i.event()+"delta", op.Text[max(r.after, from)-from:]
		r.Frame(name, &textDelta{name, r.value(), i.ID, i.index, 0, lacks, []string{}})
	}
}

// textDelta is the most frequent event.
type textDelta struct {
	Type     string   `json:"type"`
	Number   uint64   `json:"sequence_number"`
	Item     string   `json:"item_id"`
	Output   int      `json:"output_index"`
	Content  int      `json:"content_index"`
	Delta    string   `json:"delta"`
	Logprobs []string `json:"logprobs"`
}

// drop ends an item whose text was taken back. Another item will replace it.
func (r *response) drop(op *transcript.Op) {
	i := r.find(op)
	if i == nil || i.dropped {
		return
	}
	if i.dropped = true; i.Status == "in_progress" {
		r.close(i, "incomplete")
	}
}

// result writes the result of a tool call.
func (r *response) result(op *transcript.Op) {
	i, status := r.item(op), "failed"
	if result, failed := op.Item.Result(); failed != "" {
		i.Error = &failed
	} else {
		i.Output, status = new(string(result)), "completed"
	}
	r.emitOf(i, "response.mcp_call."+status, fields{})
	r.close(i, status)
}

// object returns the response as it is now.
func (r *response) object() fields {
	metadata := maps.Clone(r.queued.Labels)
	delete(metadata, messages.TraceLabel)
	delete(metadata, storeLabel)
	if strings.HasPrefix(metadata[messages.ContextLabel], api.Begins) {
		delete(metadata, messages.ContextLabel)
	}
	o := fields{"id": r.id(r.segment), "object": "response", "created_at": r.created.Unix(),
		"status": r.status, "error": r.failed(), "incomplete_details": r.short, "instructions": nil, "model": api.Model(r.queued),
		"output": r.shown(), "parallel_tool_calls": true, "tool_choice": "auto", "tools": []string{},
		"metadata": metadata, "temperature": nil, "top_p": nil, "previous_response_id": nil}
	if r.segment > 1 {
		o["previous_response_id"] = r.id(r.segment - 1)
	}
	if r.Over && r.tally.Tokens.Total() != nil { // clients fail at a usage that lacks one of its counts
		o["usage"] = r.tally.Usage("input_tokens", "output_tokens")
	}
	return o
}

// shown returns the items that were not taken back.
func (r *response) shown() []item {
	output := []item{}
	for _, i := range r.output {
		if !i.dropped {
			output = append(output, i.now())
		}
	}
	return output
}

// find returns the item of the operation, or nil.
func (r *response) find(op *transcript.Op) *item {
	n := slices.IndexFunc(r.output, func(i *item) bool { return i.ID == prefixes[op.Item.Kind]+op.ID })
	if n < 0 {
		return nil
	}
	return r.output[n]
}

package messages

import (
	"bytes"
	"cmp"
	"encoding/json"
)

// CallbackLabel is the label with the URL to which a run's questions and its end are sent.
const CallbackLabel = "callback_url"

// CallbackFormLabel is the label with the protocol of those callbacks. Without it they are events in JSON.
const CallbackFormLabel = "callback_form"

// ContextLabel is the label that names a turn's conversation.
const ContextLabel = "context"

// RetryLabel is the label with the first of the runs that a run retries: it goes on with the steps that these have kept.
// RetryFromLabel is the label with the kept step from which it makes them again.
const (
	RetryLabel     = "retry_of"
	RetryFromLabel = "retry_from"
)

// Request asks for a run of a job by name.
type Request struct {
	// Job is the name of the job.
	Job string `json:"job"`
	// Input is the input of the job as JSON.
	Input json.RawMessage `json:"input,omitempty"`
	// Principal is on whose behalf the run is; a door sets it, and never a client.
	Principal string `json:"-"`
	// Mode is Detached if empty.
	Mode Mode `json:"mode,omitempty"`
	// Labels are free for the caller; runs can be found by them.
	Labels map[string]string `json:"labels,omitempty"`
	// Limits bound the run; zero values take the defaults of the System.
	Limits Limits `json:"limits,omitzero"`
	// Busy says what becomes of it in a conversation whose turn works: it waits, if empty.
	Busy Busy `json:"busy,omitempty"`
	// Door and Agent belong to the message that the turn then gets; a door sets them, and never a client.
	Door  string `json:"-"`
	Agent bool   `json:"-"`
	// Replaces is a run that waits in the conversation: this one gets its place, and it is canceled.
	Replaces RunID `json:"replaces,omitempty"`
	// Key makes the request idempotent for its principal. The same key with the same job and input gets the same run;
	// with other input it is a CodeConflict error.
	Key string `json:"key,omitempty"`
}

// ReadBudget reads a budget that a caller sets, nothing from no data. It refuses (invalid_input) what is no unit, and zero, which
// would set no limit.
func ReadBudget(data json.RawMessage) (b Budget, err error) {
	if len(data) == 0 {
		return b, nil
	}
	var given map[string]json.RawMessage
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err = cmp.Or(in.Decode(&b), json.Unmarshal(data, &given)); err != nil {
		return b, InvalidInput("the budget is not an object with the units %v: %v", BudgetUnits, err)
	}
	for unit, amount := range b.Amounts() {
		if text := given[BudgetUnits[unit]]; amount == 0 && len(text) > 0 && string(text) != "null" {
			return b, InvalidInput("the budget's %s must be a positive number, not 0; leave it out for no limit", BudgetUnits[unit])
		}
	}
	return b, nil
}

// JSONSchema returns a JSON Schema, the same each time. A nil function or a nil result accepts anything.
type JSONSchema func() json.RawMessage

// JSON returns the schema, or nil.
func (s JSONSchema) JSON() json.RawMessage {
	if s == nil {
		return nil
	}
	return s()
}

// JobInfo describes a job that a node offers.
type JobInfo struct {
	// Name is the job's name in its runtime.
	Name string
	JobSpec
}

// JobSpec says what a kind of job is for, what it takes, and what it returns.
type JobSpec struct {
	// Title and Description tell people and models what the job is for, and when to use it.
	Title, Description string
	// Input is the schema of the input, an object. ModelInput is the schema that models see; nil means Input.
	Input, ModelInput JSONSchema
	// Output is the schema of the result.
	Output JSONSchema
	// PromptField is the member of the input that takes the text of a chat message. It is "" if the result is not an
	// answer to one.
	PromptField string
	// AskField is the boolean member of the input by which a caller agrees to answer questions. It is "" if the job asks
	// without it, or asks nothing.
	AskField string
	// ConfirmByCaller lets an agent that calls the job answer its confirmations; otherwise only people do.
	ConfirmByCaller bool
	// ReadOnly, Destructive, Idempotent and OpenWorld tell clients about effects. The zero values mean a job that
	// writes, destroys nothing, and stays on this machine.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	// Server and Tool name the tool of another server that a run calls, if that is all that the job does.
	Server, Tool string
	// Messages says that a run takes what is said to it while it works.
	Messages bool
	// Limits apply to runs whose callers set none.
	Limits Limits
	// Mode says what happens to a run whose caller leaves; "" leaves that to the caller's protocol.
	Mode Mode
	// Summary describes the outcome of an ended run to people and models. nil is the text that the run said or else a
	// sentence and the result as JSON.
	Summary func(ended State) string
}

// About is JobSpec.
//
// Deprecated: Use [JobSpec].
type About = JobSpec

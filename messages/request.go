package messages

import "encoding/json"

// CallbackLabel is the label of a run that holds the URL to which its caller wants its questions and its end sent.
const CallbackLabel = "callback_url"

// CallbackFormLabel is the label of a run that names the protocol in whose form they are sent; without it they are the
// events.
const CallbackFormLabel = "callback_form"

// Request asks for a run of a job by name.
type Request struct {
	Job       string            `json:"job"`
	Input     json.RawMessage   `json:"input,omitempty"`
	Principal string            `json:"-"`
	Mode      Mode              `json:"mode,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Limits    Limits            `json:"limits,omitzero"`
	// Key makes the request idempotent per principal: the same key with the same job and input gets the same run, and
	// with other input a CodeConflict error.
	Key string `json:"key,omitempty"`
}

// JSONSchema returns a JSON Schema, the same each time. It may be nil, and so may what it returns: then anything fits.
type JSONSchema func() json.RawMessage

// JSON returns the schema, or nil.
func (s JSONSchema) JSON() json.RawMessage {
	if s == nil {
		return nil
	}
	return s()
}

// JobInfo is what whoever offers a kind of job knows of it.
type JobInfo struct {
	// Name is the job's name in its runtime.
	Name string
	About
}

// About says what a kind of job is for, what it takes and what it gives.
type About struct {
	// Title and Description tell people and models what the job is for, and when to use it.
	Title, Description string
	// Input is the schema of the input, an object. Models is what models may say of it; nil is all.
	Input, Models JSONSchema
	// Output is the schema of the result.
	Output JSONSchema
	// Text is the member of the input that takes what a chat client says; "" where the result is no answer.
	Text string
	// Asks is the member of the input, a boolean, with which a caller says that it answers what the job asks; "" where
	// the job asks anyway, or nothing.
	Asks string
	// Effects, for clients. The zero value writes without destroying and stays on this machine.
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	// Limits bound runs whose callers set none.
	Limits Limits
	// Mode says what becomes of a run whose caller leaves; "" is as the caller's protocol says.
	Mode Mode
	// Say says for people and models what an ended run came to; nil is the text that the run said, else a sentence and
	// the result as JSON.
	Say func(ended State) string
}

package messages

import "encoding/json"

// Request asks for a run: what every surface makes of its own call.
type Request struct {
	Job       string            `json:"job"`
	Input     json.RawMessage   `json:"input,omitempty"`
	Principal string            `json:"-"`
	Mode      Mode              `json:"mode,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	Limits    Limits            `json:"limits,omitzero"`
	// Key makes the request idempotent per principal: the same key with the same job and input is the same run, with
	// other input a CodeConflict error.
	Key string `json:"key,omitempty"`
}

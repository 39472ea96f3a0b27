package wrapped

import (
	"context"
	"encoding/json"

	"github.com/seed889630bf/lastword/messages"
)

// Input names the server and its tool. The log has it.
type Input struct {
	Server    string          `json:"server"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Shown is the tool as its server described it when it was called, with schemas and annotations.
	Shown json.RawMessage `json:"shown,omitempty"`
	// Client is what the caller's client declared as its capabilities; the server hears the same.
	Client json.RawMessage `json:"client,omitempty"`
	// Digest stands for the arguments, if the log keeps no more of them.
	Digest *Digest `json:"digest,omitempty"`
	// Here is the id of the call, if its handler waits for it in the process that has started the run.
	Here string `json:"here,omitempty"`
}

// Digest is what the log keeps of arguments or a result that it must not hold.
type Digest struct {
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Call is a call of a tool by a run.
type Call struct {
	Input
	Run, Principal string
	// Key is the same for every repetition of the call.
	Key string
	// Progress and Log report what the server says during the call, Log its message as JSON.
	Progress func(done, total float64, message string)
	Log      func(level, text string)
	// Ask asks the run's people a question of the server.
	Ask func(ctx context.Context, in messages.InputRequired) (json.RawMessage, error)
}

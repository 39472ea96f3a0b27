package task

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/seal"
)

// claims is the content of a requestState, which the client carries from an input_required result to the retried call.
type claims struct {
	Run messages.RunID `json:"run"`
	// Questions are the names of the questions that were asked.
	Questions []string `json:"ask"`
	// After is the number of the last event that the call sent to the client.
	After uint64 `json:"after"`
	// Principal and Call say who may continue and with which call. Call is a digest of tool and arguments.
	Principal string `json:"of,omitempty"`
	Call      string `json:"call"`
	// Expires is in seconds since 1970.
	Expires int64 `json:"exp"`
}

// Errors for a state that is refused. All are invalid_input: the client should call the tool again without the state.
var (
	errForged  = messages.InvalidInput("requestState is not from this server; call the tool again without it")
	errForeign = messages.InvalidInput("requestState belongs to another call; " +
		"send it with the tool and the arguments that it was given for")
	errExpired = messages.InvalidInput("requestState has expired; call the tool again without it")
)

// stateLife is how long a client may take to answer.
const stateLife = time.Hour

// stateUse is what states are sealed for.
const stateUse = "requestState"

// open returns the claims of a state. It returns an error unless one of the keys has sealed the state for the principal
// and the call, and it has not expired.
func open(keys seal.Keys, state, principal, call string, now time.Time) (claims, error) {
	var c claims
	plain, ok := keys.Open(stateUse, state)
	switch {
	case !ok || json.Unmarshal(plain, &c) != nil:
		return claims{}, errForged
	case c.Principal != principal || c.Call != call:
		return claims{}, errForeign
	case now.Unix() >= c.Expires:
		return claims{}, errExpired
	}
	return c, nil
}

// callDigest returns a digest of a tool and its arguments that does not depend on how the client formatted them: as JSON
// with sorted keys and without spaces. No arguments count as {}.
func callDigest(tool string, arguments any) string {
	raw, ok := arguments.(json.RawMessage)
	if !ok {
		raw, _ = json.Marshal(arguments)
	}
	var value any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&value) != nil || value == nil {
		value = map[string]any{}
	}
	canonical, _ := json.Marshal(value)
	sum := sha256.Sum256(slices.Concat([]byte(tool), []byte{0}, canonical))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

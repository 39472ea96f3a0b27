package task

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
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

// stateBytes is the maximum size of a state in bytes. Genuine ones are far smaller.
const stateBytes = 64 << 10

// signer signs states with HMAC-SHA-256, so that only this server can have made them.
type signer struct{ key []byte }

// newSigner makes a signer. Without a key it takes a random one, so states are valid only in this process.
func newSigner(key []byte) signer {
	if len(key) == 0 {
		key = make([]byte, sha256.Size)
		rand.Read(key)
	}
	return signer{key}
}

// sign returns the signed claims as text that is safe in JSON and in header fields.
func (s signer) sign(c claims) string {
	payload, _ := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(payload) + "." + base64.RawURLEncoding.EncodeToString(s.mac(payload))
}

// mac returns the code of a payload. The prefix keeps codes of other uses of the key from matching.
func (s signer) mac(payload []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte("lastword.requestState.1\x00"))
	h.Write(payload)
	return h.Sum(nil)
}

// open returns the claims of a state. It returns an error unless this signer made the state for the principal and the
// call, and it has not expired.
func (s signer) open(state, principal, call string, now time.Time) (claims, error) {
	if len(state) > stateBytes {
		return claims{}, errForged
	}
	head, tail, _ := strings.Cut(state, ".")
	encoding := base64.RawURLEncoding.Strict()
	payload, err1 := encoding.DecodeString(head)
	given, err2 := encoding.DecodeString(tail)
	if err1 != nil || err2 != nil || !hmac.Equal(given, s.mac(payload)) {
		return claims{}, errForged
	}
	var c claims
	switch err := json.Unmarshal(payload, &c); {
	case err != nil:
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

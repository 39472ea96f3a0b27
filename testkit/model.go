package testkit

import (
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/standin"
)

// Model is a scripted server of language models on a real socket of the loopback interface. URL is its base URL.
// Answer scripts its next answer, Step one whose pieces wait for [Exchange]'s Next, and Always what it answers else.
// Without a script it echoes the last message. Requests returns what it was asked. Close ends it.
type Model = standin.Model

// ModelOptions say which server a [Model] imitates. The zero value is an OpenAI-compatible server that accepts any
// key and any model.
type ModelOptions = standin.ModelOptions

// Exchange is one scripted answer of a [Model]: Request is what it answers, Next sends its next piece, Rest all.
type Exchange = standin.Exchange

// Piece is a part of an answer.
type Piece = standin.Piece

// NewModel starts a server that ends with the test.
func NewModel(t testing.TB) *Model { return standin.NewModel(t) }

// ListenModel starts a server that the caller closes.
func ListenModel(o ModelOptions) (*Model, error) { return standin.ListenModel(o) }

// Role opens an answer.
func Role() Piece { return standin.Role() }

// Text is a chunk of text.
func Text(s string) Piece { return standin.Text(s) }

// Thought is a chunk of reasoning.
func Thought(s string) Piece { return standin.Thought(s) }

// Call is a chunk of the tool call with this index.
func Call(index int, id, name, arguments string) Piece {
	return standin.Call(index, id, name, arguments)
}

// Finish is the chunk with the reason of the end, such as "stop".
func Finish(reason string) Piece { return standin.Finish(reason) }

// Usage is the chunk with the counts of tokens.
func Usage(prompt, completion int) Piece { return standin.Usage(prompt, completion) }

// Done is the last frame of a stream.
func Done() Piece { return standin.Done() }

// ErrorFrame is an error in the middle of a stream.
func ErrorFrame(message string) Piece { return standin.ErrorFrame(message) }

// Tokens are n chunks of text, one after each pause.
func Tokens(n int, every time.Duration) Piece { return standin.Tokens(n, every) }

// Until waits for the gate to be closed.
func Until(gate <-chan struct{}) Piece { return standin.Until(gate) }

// Stall sends nothing more, and keeps the connection.
func Stall() Piece { return standin.Stall() }

// Cut closes the connection in the middle of the answer.
func Cut() Piece { return standin.Cut() }

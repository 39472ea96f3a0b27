package testkit

import (
	"encoding/json"
	"fmt"
)

// Fixture is a scripted answer with the verdict that it must get.
type Fixture struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Source   string          `json:"source"`  // where such an answer was seen
	Profile  string          `json:"profile"` // "strict" or "generic"
	Response FixtureResponse `json:"response"`
	Expect   Expectation     `json:"expect"`
}

// FixtureResponse is the answer.
type FixtureResponse struct {
	Status      int     `json:"status"`
	ContentType string  `json:"content_type"`
	Framing     Framing `json:"framing"`
	// End is "clean", as the framing says; "fin" or "rst", before that; or "hang", after the body and without an end.
	End  string `json:"end"`
	Body string `json:"body"`
	// SplitBytes is the size of the writes, see [Split].
	SplitBytes int `json:"split_bytes,omitempty"`
}

// Expectation is what a client must make of the answer.
type Expectation struct {
	Verdict        string   `json:"verdict"`          // "completed" or "failed"
	Signal         string   `json:"signal,omitempty"` // of a completion: "done" or "eof+finish"
	Text           string   `json:"text,omitempty"`
	Thought        string   `json:"thought,omitempty"`
	Tools          []string `json:"tools,omitempty"`           // calls: the name, a space, the arguments
	ReasonContains string   `json:"reason_contains,omitempty"` // a part of the verdict's message
	Truncated      bool     `json:"truncated,omitempty"`
}

// Fixtures reads a JSON array of fixtures.
func Fixtures(data []byte) ([]Fixture, error) {
	var list []Fixture
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("fixtures: %w", err)
	}
	for _, f := range list {
		if err := f.check(); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func (f Fixture) check() error {
	switch f.Response.Framing {
	case Chunked, ContentLength, CloseDelimited, HTTP10:
	default:
		return fmt.Errorf("fixture %s: framing %q is not known", f.ID, f.Response.Framing)
	}
	switch f.Response.End {
	case "clean", "fin", "rst", "hang":
		return nil
	}
	return fmt.Errorf("fixture %s: end %q is not known", f.ID, f.Response.End)
}

// Pieces is the fixture as an answer of a [Model].
func (f Fixture) Pieces() []Piece {
	r := f.Response
	pieces := []Piece{Split(r.SplitBytes), Framed(r.Framing)}
	if r.Framing == ContentLength && r.End != "clean" {
		pieces = append(pieces, Length(len(r.Body)+1))
	}
	pieces = append(pieces, Status(r.Status, r.ContentType, r.Body))
	switch r.End {
	case "fin":
		pieces = append(pieces, Cut())
	case "rst":
		pieces = append(pieces, Reset())
	case "hang":
		pieces = append(pieces, Stall())
	}
	return pieces
}

package llm_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"text/tabwriter"

	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

// fixture is a scripted answer with its expected verdict.
type fixture struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Source   string          `json:"source"`  // where such an answer was seen
	Profile  string          `json:"profile"` // "strict" or "generic"
	Response fixtureResponse `json:"response"`
	Expect   expectation     `json:"expect"`
}

// fixtureResponse is the answer.
type fixtureResponse struct {
	Status      int             `json:"status"`
	ContentType string          `json:"content_type"`
	Framing     standin.Framing `json:"framing"`
	// End is "clean", with the framing; "fin" or "rst", without it; or "hang", silence after the body.
	End  string `json:"end"`
	Body string `json:"body"`
	// SplitBytes is the size of the writes, see [standin.Split].
	SplitBytes int `json:"split_bytes,omitempty"`
}

// expectation is what a client must read from the answer.
type expectation struct {
	Verdict        string   `json:"verdict"`          // "completed" or "failed"
	Signal         string   `json:"signal,omitempty"` // of a completion: "done" or "eof+finish"
	Text           string   `json:"text,omitempty"`
	Thought        string   `json:"thought,omitempty"`
	Tools          []string `json:"tools,omitempty"`           // calls: the name, a space, the arguments
	ReasonContains string   `json:"reason_contains,omitempty"` // a part of the verdict's message
	Truncated      bool     `json:"truncated,omitempty"`
}

// answer returns the fixture as an answer of a [testkit.Model].
func (f fixture) answer() []testkit.Piece {
	r := f.Response
	pieces := []testkit.Piece{standin.Split(r.SplitBytes), standin.Framed(r.Framing)}
	if r.Framing == standin.ContentLength && r.End != "clean" {
		pieces = append(pieces, standin.Length(len(r.Body)+1))
	}
	pieces = append(pieces, standin.Status(r.Status, r.ContentType, r.Body))
	switch r.End {
	case "fin":
		pieces = append(pieces, testkit.Cut())
	case "rst":
		pieces = append(pieces, standin.Reset())
	case "hang":
		pieces = append(pieces, testkit.Stall())
	}
	return pieces
}

func fixtures(t testing.TB) []fixture {
	t.Helper()
	data, err := os.ReadFile("testdata/llm-streams.json")
	must(t, err)
	var list []fixture
	must(t, json.Unmarshal(data, &list))
	return list
}

// wrong says what is not as the fixture wants it, "" for nothing.
func wrong(f fixture, h *heard) string {
	want, v := f.Expect, h.end.Verdict
	var calls []string
	for _, c := range h.end.Calls {
		calls = append(calls, c.Name+" "+c.Arguments)
	}
	switch {
	case h.ends != 1:
		return fmt.Sprintf("%d ends", h.ends)
	case h.parts[len(h.parts)-1] == nil || !isEnd(h.parts[len(h.parts)-1]):
		return "the end is not last"
	case string(v.Outcome) != want.Verdict, v.Signal != want.Signal, v.Truncated != want.Truncated:
		return "another verdict"
	case (h.err == nil) != (v.Outcome == model.Completed):
		return "error and verdict differ"
	case !strings.Contains(v.Message, want.ReasonContains):
		return "another message"
	case h.text != want.Text:
		return "another text"
	case h.thought != want.Thought:
		return "another thought"
	case !slices.Equal(calls, want.Tools):
		return "other calls"
	case (h.end.FirstToken > 0) != h.end.Evidence.Output:
		return "output without a first token"
	}
	return ""
}

func isEnd(p model.Part) bool {
	_, ok := p.(model.End)
	return ok
}

// Contract, section 7: every scripted answer gets its verdict, whole and however it is cut.
func TestFixtures(t *testing.T) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "id\tanswer\tprofile\tverdict\tsignal or cause\ttext\tmessage")
	for _, f := range fixtures(t) {
		t.Run(f.ID, func(t *testing.T) {
			h := overSocket(t, f, 0)
			v := h.end.Verdict
			fmt.Fprintf(w, "%s\t%s\t%s\t%s%s\t%s%s\t%.20q\t%.60s\n", f.ID, f.Name, f.Profile, v.Outcome,
				map[bool]string{true: ", truncated"}[v.Truncated], v.Signal, v.Cause, h.text+h.thought, v.Message)
			for _, size := range []int{1, 7} {
				overSocket(t, f, size)
			}
			inPieces(t, f)
		})
	}
	w.Flush()
	t.Log("\n" + table.String())
}

func overSocket(t *testing.T, f fixture, size int) *heard {
	t.Helper()
	m := testkit.NewModel(t)
	if size > 0 {
		f.Response.SplitBytes = size
	}
	m.Always(f.answer()...)
	c := client(t, llm.Config{BaseURL: m.URL(), Profile: model.Profile(f.Profile), Retries: -1})
	h := listen(t.Context(), c, hello())
	if w := wrong(f, h); w != "" {
		t.Errorf("over a socket, by %d: %s: %s", size, w, h)
	}
	return h
}

func inPieces(t *testing.T, f fixture) {
	length := len(f.Response.Body)
	ways := [][]int{{length}, cuts(length, 1), cuts(length, 7)}
	for at := 1; at < length; at++ {
		ways = append(ways, []int{at, length})
	}
	synctest.Test(t, func(t *testing.T) {
		for _, pieces := range ways {
			c := client(t, llm.Config{Transport: &played{f.Response, pieces}, Profile: model.Profile(f.Profile), Retries: -1})
			if h := listen(t.Context(), c, hello()); wrong(f, h) != "" {
				t.Errorf("in pieces of %d: %s: %s", pieces[0], wrong(f, h), h)
			}
		}
	})
}

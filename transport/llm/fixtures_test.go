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
	"unicode/utf8"

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

// FuzzDecoder: whatever a server sends, there is one end and it is the last part; it is completed only with the
// contract's evidence in the bytes themselves; text is valid; and all is the same however the bytes are cut.
func FuzzDecoder(f *testing.F) {
	for i, x := range fixtures(f) {
		if x.Response.Status == 200 {
			f.Add([]byte(x.Response.Body), i%2 == 0, byte(i%3), byte(i))
		}
	}
	for _, s := range []string{
		"data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83c\"}}]}\ndata: {\"choices\":[{\"delta\":{\"content\":\"\\udf89<think>x\"}}]}\n",
		"data: {\"choices\":[{\"index\":\"0\",\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"text\":\"h\"}]},{\"text\":\"t\"}]}}],\"usage\":{\"prompt_tokens\":1.0}}\n\n",
		"data: {\"error\":null,\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\r\r",
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\ndata: {\"error\":{\"message\":\"no\"}}\ndata: [DONE]",
		"data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"}},{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\ndata: {\"choices\":[{\"message\":{\"content\":\"ab\",\"refusal\":\"c\"},\"text\":\"abc\"}]}\ndata: [DONE]",
		"data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"error\":{\"message\":\"no\"}}]}\n\ndata: [{\"base_resp\":{\"status_code\":1,\"status_msg\":\"no\"}}]\n\n",
		"event: message_start\ndata: {\"type\":\"message_start\",\"x_groq\":{\"error\":\"no\"},\"errors\":[ ],\"code\":\"0\",\"detail\":{ }}\n\n",
		"data: {\"choices\":[{\"text\":\"a\",\"finish_details\":{\"type\":\"SAFETY\"},\"native_finish_reason\":\"x\"}],\"output_sensitive\":true}\n\n",
		"<html>", "[DONE]", "{}", "data: [DONE]", "\xef\xbb\xbfdata: [DONE]\n",
	} {
		f.Add([]byte(s), false, byte(0), byte(2))
	}
	f.Fuzz(func(t *testing.T, raw []byte, strict bool, ending, n byte) {
		r := fixtureResponse{Status: 200, ContentType: "text/event-stream", Framing: standin.Chunked, Body: string(raw),
			End: []string{"clean", "fin", "rst"}[ending%3]}
		if ending/3%2 == 1 {
			r.Framing = standin.CloseDelimited
		}
		profile := map[bool]model.Profile{true: model.Strict, false: model.Generic}[strict]
		play := func(pieces []int) *heard {
			c, err := llm.New(llm.Config{BaseURL: "http://model.test/v1", Transport: &played{r, pieces}, Profile: profile, Retries: -1,
				Limits: llm.Limits{FrameBytes: 4 << 10}})
			must(t, err)
			return listen(t.Context(), c, hello())
		}
		whole := play([]int{len(raw) + 1})
		if why := unlawful(whole, r, strict); why != "" {
			t.Fatalf("%s: %s", why, whole)
		}
		for _, size := range []int{1, int(n)%13 + 1} {
			if got := play(cuts(len(raw), size)); sum(got) != sum(whole) {
				t.Fatalf("by %d: %s\nwhole: %s", size, sum(got), sum(whole))
			}
		}
	})
}

// sum is all that must not depend on how an answer is cut.
func sum(h *heard) string {
	e := h.end
	usage, _ := json.Marshal(e.Usage)
	return fmt.Sprintf("%q %q %+v %+v %+v %q %s", h.text, h.thought, e.Verdict, e.Evidence, e.Calls, e.Model, usage)
}

// failing says that an error frame stands on its own line before [DONE], without looking as the decoder does.
func failing(body string) bool {
	before, _, _ := strings.Cut(body, "[DONE]")
	open := false // JSON over several lines: what is in it is no frame
	for line := range strings.Lines(before) {
		data, ok := strings.CutPrefix(line, "data: ")
		var frame map[string]json.RawMessage
		whole := json.Valid([]byte(data))
		switch {
		case open || !ok || !strings.HasSuffix(line, "\n") || strings.ContainsAny(data[:len(data)-1], "\r"):
			open = open || strings.ContainsAny(line, "{[")
		case !whole:
			open = strings.ContainsAny(line, "{[")
		case json.Unmarshal([]byte(data), &frame) == nil && len(frame["error"]) > 2 && frame["error"][0] == '{':
			return true
		}
	}
	return false
}

func unlawful(h *heard, r fixtureResponse, strict bool) string {
	v, done := h.end.Verdict, strings.Contains(r.Body, "[DONE]")
	finish := strings.Contains(r.Body, "finish") || strings.Contains(r.Body, "_sensitive") || strings.Contains(r.Body, `\u`)
	switch {
	case h.ends != 1 || !isEnd(h.parts[len(h.parts)-1]):
		return "not one end"
	case v != model.Judge(map[bool]model.Profile{true: model.Strict, false: model.Generic}[strict], h.end.Evidence):
		return "not the judge's verdict"
	case !utf8.ValidString(h.text) || !utf8.ValidString(h.thought):
		return "invalid UTF-8"
	case (h.err == nil) != (v.Outcome == model.Completed):
		return "error and verdict differ"
	case v.Outcome == model.Completed && failing(r.Body):
		return "completed in spite of an error frame"
	case v.Outcome == model.Completed && v.Signal == "done" && !done:
		return "done without [DONE]"
	case v.Outcome == model.Completed && v.Signal != "done" && (strict || !finish || r.End != "clean" || r.Framing != standin.Chunked):
		return "completed without evidence"
	case v.Outcome == model.Completed && h.text == "" && h.thought == "" && len(h.end.Calls) == 0:
		return "completed without a word"
	}
	return ""
}

package llm_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/llm"
)

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
	v := h.end.Verdict
	done := strings.Contains(r.Body, "[DONE]")
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

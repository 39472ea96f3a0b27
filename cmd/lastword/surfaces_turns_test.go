package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
)

// teller is a client that begins the tale through its own door, is cut off at many events, and answers the question.
type teller func(s *stage) map[string]string

// tellers return what the client holds at the end: texts and thoughts by stream, or what stands before the question and
// after it.
var tellers = map[string]teller{"NANO": (*stage).nanoTurns, "AG-UI": (*stage).aguiMessages, "completions": (*stage).completionTurns,
	"A2A": (*stage).a2aTask}

// Clients whose protocol has turns hold the same bytes of the same tale, however often they are cut off.
func TestTurnsOnEverySurface(t *testing.T) {
	told := map[string]string{}
	for _, how := range slices.Sorted(maps.Keys(tellers)) {
		s := openStage(t)
		close(s.end)
		got := tellers[how](s)
		runs, err := s.system.List(t.Context(), messages.Query{})
		if err != nil || len(runs) < 3 { // with its sub-runs
			t.Fatalf("%s: %d runs, %v", how, len(runs), err)
		}
		run := slices.MaxFunc(runs, func(a, b messages.Summary) int { return len(b.RunID) - len(a.RunID) })
		state, err := s.system.State(t.Context(), run.RunID)
		if err != nil || state.Status != messages.Failed {
			t.Fatalf("%s: the run is %s, %v", how, state.Status, err)
		}
		want := map[string]string{}
		for _, stream := range state.Streams {
			want[stream.Name] = stream.Text()
		}
		if len(told) == 0 {
			told = want
		}
		if !maps.Equal(told, want) {
			t.Errorf("the tale that %s began differs: %q, want %q", how, want, told)
		}
		switch how {
		case "AG-UI":
		case "A2A": // one text
			want = map[string]string{"answer": strings.Join([]string{told["answer.1"], told["notes"], told["answer.2"], told["answer.3"],
				told["answer.4"]}, "\n\n")}
		default: // one for each turn
			first := told["answer.1"]
			if how == "completions" { // it tells all texts
				first += "\n\n" + told["notes"]
			}
			want = map[string]string{"1": first + "\n\n" + told["answer.2"] + "\n\nHow <loud>?",
				"2": told["answer.3"] + "\n\n" + told["answer.4"]}
		}
		if !maps.Equal(got, want) {
			t.Errorf("a client of %s holds %q, want %q", how, got, want)
		}
	}
}

// nanoTurns polls, and takes one chunk of each answer.
func (s *stage) nanoTurns() map[string]string {
	turns := map[string]string{}
	for i, prompt := range []string{"tell", "<very>"} {
		turn := strconv.Itoa(i + 1)
		var begun struct {
			Result struct {
				StreamID string `json:"stream_id"`
			}
		}
		s.nano(fmt.Sprintf(`"stream":true,"context":"c","prompt":%q`, prompt), &begun)
		for seq, ended := 0, false; !ended && !s.t.Failed(); seq++ {
			var page struct {
				Result struct {
					Chunks []struct {
						Seq   int
						Delta string
						End   bool
					}
				}
			}
			s.nano(fmt.Sprintf(`"stream_id":%q,"from_seq":%d,"wait_ms":30000`, begun.Result.StreamID, seq), &page)
			if len(page.Result.Chunks) == 0 || page.Result.Chunks[0].Seq != seq {
				s.t.Errorf("from chunk %d on there are %+v", seq, page.Result.Chunks)
				break
			}
			turns[turn] += page.Result.Chunks[0].Delta
			ended = page.Result.Chunks[0].End
		}
	}
	return turns
}

func (s *stage) nano(params string, into any) {
	_, body, err := testkit.ReadURL(s.t, http.MethodPost, s.url+"/nano/mcp", `{"jsonrpc":"2.0","id":1,"method":"run","params":{`+params+`}}`)
	if err := errors.Join(err, json.Unmarshal([]byte(body), into)); err != nil {
		s.t.Errorf("%v: %s", err, body)
	}
}

// aguiMessages repeats its request with what it has, and reads a little more each time.
func (s *stage) aguiMessages() map[string]string {
	type message struct {
		ID      string `json:"id"`
		Role    string `json:"role"`
		Content string `json:"content,omitempty"`
	}
	all, run := []message{{"u", "user", "tell"}}, ""
	for id, more := range []string{"", `,"resume":[{"interruptId":"loud","status":"resolved","payload":"<very>"}]`} {
		for n, over := 1, false; !over && !s.t.Failed(); n += 3 {
			has, err := json.Marshal(all)
			must(s.t, err)
			for _, one := range s.frames(n, http.MethodPost, "/agui", fmt.Sprintf(
				`{"threadId":"c","runId":"%d","protocolVersion":"1.0","messages":%s%s}`, id, has, more)) {
				var e struct {
					Type, MessageID, Role, Delta string
					Messages                     []message
					Snapshot                     struct {
						Lastword struct {
							Run string `json:"run_id"`
						}
					}
				}
				if err := json.Unmarshal([]byte(one.data), &e); err != nil {
					s.t.Errorf("%v: %s", err, one.data)
				}
				at := slices.IndexFunc(all, func(m message) bool { return m.ID == e.MessageID })
				switch e.Type {
				case "STATE_SNAPSHOT":
					run = e.Snapshot.Lastword.Run
				case "MESSAGES_SNAPSHOT":
					all = e.Messages
				case "TEXT_MESSAGE_START", "REASONING_MESSAGE_START":
					if at < 0 {
						all = append(all, message{ID: e.MessageID, Role: e.Role})
					}
				case "TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT":
					all[at].Content += e.Delta
				case "RUN_FINISHED", "RUN_ERROR":
					over = true
				}
			}
		}
	}
	texts := map[string]string{}
	for _, m := range all {
		if name, own := strings.CutPrefix(m.ID, run+"."); own && (m.Role == "assistant" && m.Content != "" || m.Role == "reasoning") {
			texts[name] = m.Content
		}
	}
	return texts
}

// completionTurns reads each answer whole, since a run is cancelled whose client leaves. A client that asks again with the
// same key, and is cut off, has the beginning of the same text.
func (s *stage) completionTurns() map[string]string {
	read := func(n int, content string) (text string) {
		for _, one := range s.frames(n, http.MethodPost, "/v1/chat/completions", fmt.Sprintf(
			`{"model":"chat","stream":true,"messages":[{"role":"user","content":%q}]}`, content), "X-Chat-Id", "c", "Idempotency-Key", content) {
			var chunk struct {
				Choices []struct{ Delta struct{ Content string } }
			}
			_ = json.Unmarshal([]byte(one.data), &chunk) // [DONE] is none
			for _, c := range chunk.Choices {
				text += c.Delta.Content
			}
		}
		return text
	}
	turns := map[string]string{"1": read(0, "tell")}
	turns["2"] = read(0, "<very>")
	for n, text := 1, ""; text != turns["1"] && !s.t.Failed(); n += 7 {
		if text = read(n, "tell"); !strings.HasPrefix(turns["1"], text) {
			s.t.Errorf("after %d events the client holds %q, which %q does not begin with", n, text, turns["1"])
		}
	}
	return turns
}

// a2aTask reads an event, and subscribes again.
func (s *stage) a2aTask() map[string]string {
	type artifact struct {
		ArtifactID string
		Parts      []struct{ Text string }
	}
	var id, state string
	texts := map[string]string{}
	add := func(a artifact, follows bool) {
		if !follows {
			texts[a.ArtifactID] = ""
		}
		for _, p := range a.Parts {
			texts[a.ArtifactID] += p.Text
		}
	}
	read := func(n int, method, params string) {
		body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
		var got []frame
		if method != "SendMessage" {
			got = s.framesUntil(n, `"TASK_STATE_INPUT_REQUIRED"`, http.MethodPost, "/a2a", body, "A2A-Version", "1.0")
		} else if _, data, err := testkit.ReadURL(s.t, http.MethodPost, s.url+"/a2a", body, "A2A-Version", "1.0"); err == nil {
			got = []frame{{data: data}}
		}
		for _, one := range got {
			var e struct {
				Result struct {
					Task *struct {
						ID        string
						Status    struct{ State string }
						Artifacts []artifact
					}
					StatusUpdate   *struct{ Status struct{ State string } }
					ArtifactUpdate *struct {
						Append   bool
						Artifact artifact
					}
				}
			}
			if err := json.Unmarshal([]byte(one.data), &e); err != nil {
				s.t.Errorf("%v: %s", err, one.data)
			}
			switch r := e.Result; {
			case r.Task != nil:
				id, state = r.Task.ID, r.Task.Status.State
				clear(texts)
				for _, a := range r.Task.Artifacts {
					add(a, false)
				}
			case r.StatusUpdate != nil:
				state = r.StatusUpdate.Status.State
			case r.ArtifactUpdate != nil:
				add(r.ArtifactUpdate.Artifact, r.ArtifactUpdate.Append)
			}
		}
	}
	const say = `{"message":{"messageId":%q,"taskId":%q,"role":"ROLE_USER","parts":[{"text":%q}]}}`
	for read(1, "SendStreamingMessage", fmt.Sprintf(say, "1", "", "tell")); state != "TASK_STATE_FAILED" && !s.t.Failed(); {
		if state == "TASK_STATE_INPUT_REQUIRED" {
			read(3, "SendStreamingMessage", fmt.Sprintf(say, "2", id, "<very>"))
		} else {
			state = "" // it may have ended
			if read(2, "SubscribeToTask", `{"id":"`+id+`"}`); state == "" {
				read(1, "SendMessage", fmt.Sprintf(say, "1", "", "tell"))
			}
		}
	}
	delete(texts, "file:llms.txt")
	return texts
}

package erlmcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/transport/erlmcp"
)

const words = 500

// talk says a word each 5 ms.
func talk(ctx context.Context, t *actors.TaskContext, _ struct{}) (string, error) {
	for i := range words {
		if err := t.AppendText("answer", fmt.Sprintf("w%d ", i)); err != nil {
			return "", err
		}
		time.Sleep(5 * time.Millisecond)
	}
	return "", nil
}

// slowly takes as long for each write.
type slowly struct {
	*httptest.ResponseRecorder
	pause time.Duration
}

func (s slowly) Write(data []byte) (int, error) {
	time.Sleep(s.pause)
	return s.ResponseRecorder.Write(data)
}

func (s slowly) FlushError() error { return nil }

// A subscriber that reads slowly, or asks for few chunks, gets merged ones: nothing is lost, and it delays nobody.
func TestSlowSubscribersGetMergedChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		system, err := actors.New(context.Background(), actors.Config{Jobs: []actors.Definition{actors.Func("chat", talk)}})
		must(t, err)
		door := open(system)
		var id struct {
			Result struct{ Task struct{ TaskID string } }
		}
		must(t, json.Unmarshal([]byte(ask(t, door, "", "tools/call", `{"name":"chat","task":{}}`)), &id))
		begun := time.Now()
		read := func(pause time.Duration, method, params string) (chunks int, took time.Duration) {
			body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, params)
			w := slowly{httptest.NewRecorder(), pause}
			door.ServeHTTP(w, httptest.NewRequest(http.MethodPost, erlmcp.Path, strings.NewReader(body)))
			var h heard
			for line := range strings.Lines(w.Body.String()) {
				if _, err := h.client("").handle([]byte(line)); err != nil {
					t.Error(err)
				}
			}
			if got := strings.Fields(h.text); len(got) != words || got[words-1] != fmt.Sprintf("w%d", words-1) || h.end != "completed" {
				t.Errorf("after pauses of %v the client ends as %q, with %q", pause, h.end, h.text)
			}
			return len(h.numbers), time.Since(begun)
		}
		subscribe := fmt.Sprintf(`{"streamId":%q}`, id.Result.Task.TaskID)
		var all sync.WaitGroup
		all.Go(func() {
			if chunks, took := read(0, "stream/subscribe", subscribe); chunks < words || took > words*6*time.Millisecond {
				t.Errorf("a fast subscriber gets %d chunks in %v", chunks, took)
			}
		})
		all.Go(func() {
			if chunks, _ := read(time.Second, "stream/subscribe", subscribe); chunks > words/10 {
				t.Errorf("a slow subscriber gets %d chunks", chunks)
			}
		})
		all.Go(func() {
			if chunks, _ := read(0, "tools/call", `{"name":"chat","stream":{"chunkDelayMs":100}}`); chunks > words/10 {
				t.Errorf("a subscriber that asks for 10 chunks a second gets %d", chunks)
			}
		})
		all.Wait()
		must(t, system.Close(context.Background()))
	})
}

package http_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	api "github.com/seed889630bf/lastword/transport/http"
)

// unreliable is a server whose streams are cut, and whose every other answer to a POST is lost.
type unreliable struct {
	http.Handler
	posts, streams atomic.Int64
}

func (u *unreliable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodPost && u.posts.Add(1)%2 == 1:
		u.Handler.ServeHTTP(httptest.NewRecorder(), r)
		cut(w)
	case strings.HasSuffix(r.URL.Path, "/events"):
		u.Handler.ServeHTTP(&cutting{w, 1000 << u.streams.Add(1)}, r)
	default:
		u.Handler.ServeHTTP(w, r)
	}
}

func cut(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		conn.Close()
	}
}

// cutting cuts the connection after so many bytes.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Unwrap() http.ResponseWriter { return c.ResponseWriter }

func (c *cutting) Write(p []byte) (int, error) {
	if len(p) < c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	n, _ := c.ResponseWriter.Write(p[:c.left])
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	cut(c.ResponseWriter)
	return n, http.ErrHandlerTimeout
}

// word is a word that compression leaves long.
func word(i int) string { return "ö" + messages.Digest(strconv.Itoa(i))[:16] + " " }

// The clients of docs/examples start a run, follow it across cuts, answer its question, say something to it, and cancel
// another one. Answers that are lost make nothing happen twice.
func TestExampleClients(t *testing.T) {
	started := atomic.Int64{}
	job := actors.Func("talk", func(ctx context.Context, tc *actors.TaskContext, in struct{ Words int }) (string, error) {
		started.Add(1)
		for i := range in.Words {
			if err := tc.AppendText("answer", word(i)); err != nil {
				return "", err
			}
		}
		if _, err := tc.Ask(ctx, messages.InputRequired{Request: "really?", Prompt: "Really?", Schema: json.RawMessage(`{"type":"boolean"}`)}); err != nil {
			return "", err
		}
		said, stop := tc.Interruptible(ctx)
		defer stop()
		if err := tc.Progress(1, 2, ""); err != nil {
			return "", err
		}
		<-said.Done()
		all, err := tc.Messages(ctx, "talk")
		if err != nil {
			return "", err
		}
		return all[0].Content, nil
	})
	job.Messages = true
	system := faultplan.Open(t, actors.Config{Jobs: []actors.Definition{job}})
	server := &unreliable{Handler: api.New(door.New(door.Config{Runs: system, Version: "test", Jobs: system.Jobs()}))}
	at := httptest.NewServer(server)
	defer at.Close()
	for with, file := range map[string]string{"python3": "client.py", "node": "client.mjs"} {
		t.Run(file, func(t *testing.T) {
			if _, err := exec.LookPath(with); err != nil {
				t.Skip("there is no " + with)
			}
			started.Store(0)
			server.streams.Store(0)
			client := func(args ...string) *exec.Cmd {
				cmd := exec.CommandContext(t.Context(), with, append([]string{"../../docs/examples/" + file}, args...)...)
				cmd.Env = append(cmd.Environ(), "LASTWORD_SERVER="+at.URL)
				return cmd
			}
			says := func(args ...string) string {
				t.Helper()
				out, err := client(args...).CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", args, err, out)
				}
				return strings.TrimSpace(string(out))
			}
			id := says("start", "talk", `{"Words":1000}`)
			follow, got := client("follow", id), new(bytes.Buffer)
			follow.Stdout = got
			must(t, follow.Start())
			for e, err := range system.Events(t.Context(), messages.RunID(id), 0) {
				must(t, err)
				switch e.Body.(type) {
				case messages.InputRequired:
					says("answer", id, "really?", "true")
				case messages.Progress:
					says("say", id, "enough", "interrupt")
				}
			}
			var s messages.State
			err := follow.Wait()
			for line := range bytes.Lines(got.Bytes()) {
				var e messages.Event
				if err == nil {
					err = json.Unmarshal(line, &e)
				}
				if err == nil {
					s, err = s.Apply(e)
				}
			}
			text, _ := s.Stream("answer")
			var want strings.Builder
			for i := range 1000 {
				want.WriteString(word(i))
			}
			if err != nil || s.Status != messages.Completed || string(s.End.Result) != `"enough"` || text.Text() != want.String() ||
				len(s.Messages) != 1 || started.Load() != 1 || server.streams.Load() < 3 {
				t.Errorf("%v: %s with %s, %d bytes, %d messages and %d starts over %d streams", err, s.Status, s.End.Result, len(text.Text()), len(s.Messages), started.Load(), server.streams.Load())
			}
			other := says("start", "talk", `{"Words":1}`)
			says("cancel", other)
			if last := says("follow", other); !strings.Contains(last, `"run.canceled"`) {
				t.Errorf("the canceled run ends with %s", last)
			}
			if out, err := client("cancel", "r_none").CombinedOutput(); err == nil || !strings.Contains(string(out), "r_none") {
				t.Errorf("cancel of no run: %v, %s", err, out)
			}
		})
	}
}

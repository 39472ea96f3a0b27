package llm_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/transport/llm"
)

// bubble runs f with a client whose server answers by handle, both in their own bubble time.
func bubble(t *testing.T, config llm.Config, handle http.HandlerFunc, f func(t *testing.T, c *llm.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := standin.NewNetwork()
		s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then does the server look out for the client's leaving
			handle(w, r)
		})}
		go s.Serve(p)
		defer s.Close()
		transport := &http.Transport{DialContext: p.Dial, DisableCompression: true}
		defer transport.CloseIdleConnections()
		config.Transport = transport
		f(t, client(t, config))
		time.Sleep(time.Minute) // for handlers that sleep
	})
}

func write(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, text)
	w.(http.Flusher).Flush()
}

const (
	tokenFrame = `data: {"choices":[{"delta":{"content":"x"}}]}` + "\n\n"
	roleFrame  = `data: {"choices":[{"delta":{"role":"assistant","content":""}}]}` + "\n\n"
	doneFrame  = "data: [DONE]\n\n"
)

func TestRetries(t *testing.T) {
	limits := llm.Limits{FirstToken: 10 * time.Second, RetryAfter: time.Minute}
	for _, c := range []struct {
		name    string
		answer  func(w http.ResponseWriter)
		tries   int
		between time.Duration // at least, before the second try
		header  []string
	}{
		{"400", func(w http.ResponseWriter) { w.WriteHeader(400) }, 1, 0, nil},
		{"401", func(w http.ResponseWriter) { w.WriteHeader(401) }, 1, 0, nil},
		{"404", func(w http.ResponseWriter) { w.WriteHeader(404) }, 1, 0, nil},
		{"501", func(w http.ResponseWriter) { w.WriteHeader(501) }, 1, 0, nil},
		{"408", func(w http.ResponseWriter) { w.WriteHeader(408) }, 3, 125 * time.Millisecond, nil},
		{"425", func(w http.ResponseWriter) { w.WriteHeader(425) }, 3, 125 * time.Millisecond, nil},
		{"429", func(w http.ResponseWriter) { w.WriteHeader(429) }, 3, 125 * time.Millisecond, nil},
		{"500", func(w http.ResponseWriter) { w.WriteHeader(500) }, 3, 125 * time.Millisecond, nil},
		{"Retry-After", func(w http.ResponseWriter) { w.WriteHeader(429) }, 3, 7 * time.Second, []string{"Retry-After", "7"}},
		{"Retry-After on a date", func(w http.ResponseWriter) { w.WriteHeader(503) }, 3, 29 * time.Second,
			[]string{"Retry-After", "Sat, 01 Jan 2000 00:00:30 GMT"}},
		{"Retry-After in milliseconds", func(w http.ResponseWriter) { w.WriteHeader(503) }, 3, 1500 * time.Millisecond,
			[]string{"Retry-After-Ms", "1500"}},
		{"Retry-After longer than allowed", func(w http.ResponseWriter) { w.WriteHeader(429) }, 1, 0, []string{"Retry-After", "61"}},
		{"Retry-After that is none", func(w http.ResponseWriter) { w.WriteHeader(429) }, 3, 125 * time.Millisecond, []string{"Retry-After", "soon"}},
		{"error frame that may pass", func(w http.ResponseWriter) { write(w, `data: {"error":{"code":502,"message":"boom"}}`+"\n\n") }, 3, 0, nil},
		{"error frame that will not pass", func(w http.ResponseWriter) { write(w, `data: {"error":{"code":400,"message":"too long"}}`+"\n\n") }, 1, 0, nil},
		{"cut before a token", func(w http.ResponseWriter) { write(w, roleFrame); panic(http.ErrAbortHandler) }, 3, 0, nil},
		{"cut after a token", func(w http.ResponseWriter) { write(w, tokenFrame); panic(http.ErrAbortHandler) }, 1, 0, nil},
		{"cut in a held-back tag", func(w http.ResponseWriter) {
			write(w, `data: {"choices":[{"delta":{"content":"<thi"}}]}`+"\n\n")
			panic(http.ErrAbortHandler)
		}, 1, 0, nil},
		{"empty", func(w http.ResponseWriter) { write(w, roleFrame+doneFrame) }, 1, 0, nil},
		{"silence", func(http.ResponseWriter) { time.Sleep(20 * time.Second) }, 1, 0, nil},
	} {
		var at []time.Time
		handle := func(w http.ResponseWriter, r *http.Request) {
			at = append(at, time.Now())
			if c.header != nil {
				w.Header().Set(c.header[0], c.header[1])
			}
			c.answer(w)
		}
		bubble(t, llm.Config{Limits: limits}, handle, func(t *testing.T, l *llm.Client) {
			h := listen(t.Context(), l, hello())
			synctest.Wait()
			if h.ends != 1 || h.err == nil || len(at) != c.tries {
				t.Errorf("%s: %d tries: %s", c.name, len(at), h)
			}
			if len(at) > 1 && (at[1].Sub(at[0]) < c.between || at[1].Sub(at[0]) > c.between+time.Second) {
				t.Errorf("%s: %s between the tries", c.name, at[1].Sub(at[0]))
			}
		})
	}
}

// The tries are no events: the consumer sees one answer.
func TestRetrySucceeds(t *testing.T) {
	tries := 0
	handle := func(w http.ResponseWriter, r *http.Request) {
		if tries++; tries == 3 {
			write(w, tokenFrame+doneFrame)
			return
		}
		write(w, roleFrame)
		panic(http.ErrAbortHandler)
	}
	bubble(t, llm.Config{}, handle, func(t *testing.T, l *llm.Client) {
		h := listen(t.Context(), l, hello())
		synctest.Wait()
		if h.err != nil || len(h.parts) != 2 || tries != 3 || h.end.FirstToken < 300*time.Millisecond {
			t.Error(h, h.parts, tries)
		}
	})
}

func TestCancelBetweenTries(t *testing.T) {
	handle := func(w http.ResponseWriter, r *http.Request) { w.Header().Set("Retry-After", "30"); w.WriteHeader(429) }
	bubble(t, llm.Config{}, handle, func(t *testing.T, l *llm.Client) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(time.Second, cancel)
		began, h := time.Now(), listen(ctx, l, hello())
		if h.ends != 1 || h.end.Verdict.Outcome != model.Canceled || time.Since(began) != time.Second {
			t.Error(h, time.Since(began))
		}
	})
}

func TestWatchdogs(t *testing.T) {
	every := func(w http.ResponseWriter, r *http.Request, pause time.Duration, frame string, n int) {
		for range n {
			select {
			case <-time.After(pause):
				write(w, frame)
			case <-r.Context().Done():
				return
			}
		}
	}
	limits := llm.Limits{FirstToken: 10 * time.Second, Idle: 3 * time.Second, Request: 5 * time.Minute}
	for _, c := range []struct {
		name   string
		handle http.HandlerFunc
		want   messages.Code
		after  time.Duration
		text   string
	}{
		{"silence", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, messages.CauseStalled, 10 * time.Second, ""},
		{"silence after the header", func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(4 * time.Second)
			write(w, "")
			<-r.Context().Done()
		}, messages.CauseStalled, 14 * time.Second, ""},
		{"comments before the first token are life", func(w http.ResponseWriter, r *http.Request) {
			every(w, r, 9*time.Second, ": keep-alive\n\n", 10)
			write(w, tokenFrame+doneFrame)
		}, "", 90 * time.Second, "x"},
		{"a role is no token", func(w http.ResponseWriter, r *http.Request) {
			write(w, roleFrame)
			every(w, r, 9*time.Second, ": keep-alive\n\n", 3)
			write(w, tokenFrame+doneFrame)
		}, "", 27 * time.Second, "x"},
		{"comments after it are not", func(w http.ResponseWriter, r *http.Request) {
			write(w, tokenFrame)
			every(w, r, time.Second, ": keep-alive\n\n", 100)
		}, messages.CauseStalled, 3 * time.Second, "x"},
		{"empty data after it is not", func(w http.ResponseWriter, r *http.Request) {
			write(w, tokenFrame)
			every(w, r, time.Second, "data: null\n\n", 100)
		}, messages.CauseStalled, 3 * time.Second, "x"},
		{"data after it is", func(w http.ResponseWriter, r *http.Request) {
			write(w, tokenFrame)
			every(w, r, 2*time.Second, roleFrame, 20)
			write(w, doneFrame)
		}, "", 40 * time.Second, "x"},
		{"silence after data", func(w http.ResponseWriter, r *http.Request) {
			write(w, tokenFrame)
			every(w, r, 2*time.Second, tokenFrame, 2)
			<-r.Context().Done()
		}, messages.CauseStalled, 7 * time.Second, "xxx"},
		{"a dribble", func(w http.ResponseWriter, r *http.Request) {
			write(w, tokenFrame)
			every(w, r, 2*time.Second, "d", 100)
		}, messages.CauseStalled, 3 * time.Second, "x"},
		{"the whole call", func(w http.ResponseWriter, r *http.Request) { every(w, r, 2*time.Second, roleFrame, 1000) },
			messages.CauseDeadline, 5 * time.Minute, ""},
	} {
		bubble(t, llm.Config{Limits: limits}, c.handle, func(t *testing.T, l *llm.Client) {
			began, h := time.Now(), listen(t.Context(), l, hello())
			if took := time.Since(began); h.ends != 1 || h.end.Verdict.Cause != c.want || took != c.after || h.text != c.text {
				t.Errorf("%s: after %s, want %s after %s: %s", c.name, took, c.want, c.after, h)
			}
		})
	}
}

// The watchdog is for the server: a consumer may take its time.
func TestSlowConsumer(t *testing.T) {
	handle := func(w http.ResponseWriter, r *http.Request) {
		write(w, tokenFrame+tokenFrame)
		write(w, tokenFrame+doneFrame)
	}
	bubble(t, llm.Config{Limits: llm.Limits{FirstToken: time.Second, Idle: time.Second}}, handle, func(t *testing.T, l *llm.Client) {
		h := &heard{}
		for part, err := range l.Stream(t.Context(), hello()) {
			h.take(part, err)
			time.Sleep(time.Minute)
		}
		if h.err != nil || h.text != "xxx" {
			t.Error(h)
		}
	})
}

// An answer that is done is given at once, though the server keeps the connection open and the last line has no end.
func TestDoneAtOnce(t *testing.T) {
	for _, done := range []string{doneFrame, "data: [DONE]"} {
		handle := func(w http.ResponseWriter, r *http.Request) { write(w, tokenFrame+done); <-r.Context().Done() }
		bubble(t, llm.Config{}, handle, func(t *testing.T, l *llm.Client) {
			began := time.Now()
			if h := listen(t.Context(), l, hello()); h.err != nil || h.text != "x" || time.Since(began) > 0 {
				t.Errorf("%q: after %s: %s", done, time.Since(began), h)
			}
			if l.Close(); time.Since(began) > 50*time.Millisecond {
				t.Errorf("the drain took %s", time.Since(began))
			}
		})
	}
}

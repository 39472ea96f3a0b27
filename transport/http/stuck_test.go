package http_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	api "github.com/seed889630bf/lastword/transport/http"
)

// stuck are readers that never read, and their server. Buffers are small, so that the server's writes block at once.
type stuck struct {
	api     *api.Server
	client  *http.Client
	serving sync.WaitGroup // handlers that have not returned
	leave   []func() error
}

func newStuck(t *testing.T, system *actors.System, writeTimeout time.Duration) *stuck {
	t.Helper()
	s := &stuck{api: api.New(door.New(door.Config{Runs: system, WriteTimeout: writeTimeout, Heartbeat: time.Hour}))}
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	must(t, err)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, "unix", path)
		if err == nil {
			err = c.(*net.UnixConn).SetReadBuffer(4 << 10)
		}
		return c, err
	}
	s.client = &http.Client{Transport: &http.Transport{DisableCompression: true, DialContext: dial}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serving.Add(1)
		defer s.serving.Done()
		s.api.ServeHTTP(w, r)
	}))
	server.Listener.Close()
	server.Listener = listener
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if err := c.(*net.UnixConn).SetWriteBuffer(4 << 10); err != nil {
			t.Error(err)
		}
		return ctx
	}
	server.Start()
	t.Cleanup(func() {
		for _, leave := range s.leave {
			_ = leave() // the server may have cut it
		}
		server.Close()
	})
	return s
}

// watch asks for the run's events in each way, and reads none.
func (s *stuck) watch(t *testing.T, id messages.RunID) {
	t.Helper()
	for _, accept := range []string{"text/event-stream", "application/x-ndjson", "application/json"} {
		url := "http://stuck/v1/runs/" + string(id) + "/events"
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		must(t, err)
		r.Header.Set("Accept", accept)
		response, err := s.client.Do(r)
		must(t, err)
		s.leave = append(s.leave, response.Body.Close)
	}
	c, _, err := websocket.Dial(t.Context(), "http://stuck/v1/ws", &websocket.DialOptions{HTTPClient: s.client})
	must(t, err)
	s.leave = append(s.leave, c.CloseNow)
	subscribe := `{"op":"subscribe","id":"a","run":"` + string(id) + `"}`
	must(t, c.Write(t.Context(), websocket.MessageText, []byte(subscribe)))
}

// Readers that never read beside 999 that do: those get every milestone and the same State, and the run ends, while
// the others are still stuck. The stuck ones are cut after the write timeout.
func TestReadersThatNeverRead(t *testing.T) {
	w := newWorld(t)
	id := w.start(`{"words":12,"word":"` + strings.Repeat("word ", 500) + `","ask":true,"encore":10}`)
	w.until(id, messages.KindInputRequired)
	patient, strict := newStuck(t, w.system, time.Hour), newStuck(t, w.system, 100*time.Millisecond)
	for range 3 {
		patient.watch(t, id)
		strict.watch(t, id)
	}
	got := make([]string, 999) // the events of each reader
	var asked, reading sync.WaitGroup
	asked.Add(len(got))
	for i := range got {
		how := readNDJSON
		switch {
		case i < 20:
			how = readPolling
		case i < 60:
			how = readSSE
		case i < 100:
			how = readWebSocket
		}
		reading.Go(func() { got[i] = strings.Join(all(w, id, how, asked.Done), "\n") })
	}
	asked.Wait()
	w.answer(id)
	reading.Wait()
	want, different := w.told(id), map[string]bool{} // texts may be merged in several ways
	for _, events := range got {
		different[events] = true
	}
	for events := range different {
		s := fold(t, strings.Split(events, "\n"))
		if s.state != want.state || !slices.Equal(s.milestones, want.milestones) {
			t.Errorf("a reader has\n%s\n%s\nwant\n%s\n%s", s.state, s.milestones, want.state, want.milestones)
		}
	}
	if n := patient.api.Readers(); n != 9 { // long polls do not count
		t.Errorf("%d readers are stuck, want 9", n)
	}
	cut := make(chan struct{})
	go func() { strict.serving.Wait(); close(cut) }()
	select {
	case <-cut:
	case <-time.After(30 * time.Second):
		t.Errorf("after the write timeout %d readers are not cut", strict.api.Readers())
	}
}

package lab_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
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

const (
	webStreams = 200
	webPace    = 10 * time.Millisecond // 100 tokens a second, each stream
	webTokens  = 300
	fanPace    = 50 * time.Millisecond // 20 events a second, to each of 1,000 readers
	fanTokens  = 60
	idleWeb    = 10_000
)

func webFigures() []figure {
	runs, fan := look[webLoad]{take: webRuns}, look[webLoad]{take: webFan}
	cpu, p99 := func(l webLoad) float64 { return l.cpu }, func(l webLoad) float64 { return l.p99 }
	return []figure{
		{name: "SSE, 200 streams of 100/s, CPU, to ReverseProxy", unit: "s", goal: 2.5, ours: runs.tell(cpu),
			baseline: func(t *testing.T) float64 { return webProxy(t).cpu }},
		{name: "SSE, the same, said to read, p99", unit: "ms", goal: 5, ours: runs.tell(p99)},
		{name: "SSE, 1,000 readers of a run at 20/s, CPU, to a bare broadcast", unit: "s", goal: 2, ours: fan.tell(cpu),
			baseline: func(t *testing.T) float64 { return webBroadcast(t).cpu }},
		{name: "SSE, the same, p99", unit: "ms", goal: 50, ours: fan.tell(p99)},
		{name: "WebSocket, 1,000 chunks/s, said to read, p99", unit: "ms", goal: 10,
			ours: func(t *testing.T) float64 { return webSockets(t, 1, time.Millisecond, 3000) }},
		{name: "WebSocket, 200 connections, 5,000 chunks/s, p99", unit: "ms", goal: 10,
			ours: func(t *testing.T) float64 { return webSockets(t, webStreams, 40*time.Millisecond, 75) }},
		{name: "SSE, idle connection of 10,000", unit: "KiB", goal: 28, ours: webIdle},
		{name: "WebSocket, CPU of the server for a chunk", unit: "us", goal: 10, ours: webChunk},
		{name: "SSE, a run of 10,000 events again", unit: "ms", goal: 100, ours: webReplay},
	}
}

// webLoad is what a load took: the CPU of the process, clients included, and how late words were read.
type webLoad struct{ cpu, p99 float64 }

// stamped says tokens that tell when they were said.
func stamped(n int, pace time.Duration) func(context.Context, *actors.TaskContext, int) (string, error) {
	return func(_ context.Context, t *actors.TaskContext, i int) (string, error) {
		time.Sleep(time.Duration(i) * pace / webStreams)
		tick := time.NewTicker(pace)
		defer tick.Stop()
		for range n {
			<-tick.C
			if err := t.AppendText("answer", "at="+strconv.FormatInt(time.Now().UnixNano(), 10)+" "); err != nil {
				return "", err
			}
		}
		return "done", nil
	}
}

// web serves the API of a System with the job say.
func web(t *testing.T, say func(context.Context, *actors.TaskContext, int) (string, error)) (string, *actors.System, func()) {
	t.Helper()
	s, done := newSystem(t, actors.Config{Jobs: []actors.Definition{actors.Func("say", say)}, MaxReaders: 2 * watchers})
	server := httptest.NewServer(api.New(door.New(door.Config{Runs: s, Jobs: []messages.JobInfo{{Name: "say"}}})))
	return server.URL, s, func() {
		server.CloseClientConnections()
		server.Close()
		done()
	}
}

func submit(t *testing.T, s *actors.System, input int) messages.RunID {
	t.Helper()
	id, err := s.Submit(t.Context(), messages.Request{Job: "say", Input: json.RawMessage(strconv.Itoa(input))})
	must(t, err)
	return id
}

// late reads a stream to its end and gives how late each stamp in it came.
func late(t *testing.T, client *http.Client, url string, each func(time.Duration)) {
	request, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Error(err)
		return
	}
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Accept-Encoding", "identity") // Go's client asks for gzip by itself
	response, err := client.Do(request)
	if err != nil {
		t.Error(err)
		return
	}
	defer response.Body.Close()
	for lines := bufio.NewReaderSize(response.Body, 4096); ; {
		line, err := lines.ReadSlice('\n')
		stamps(line, each)
		if err != nil {
			return
		}
	}
}

// watch reads the streams at once, and judges how late their words came.
func watch(t *testing.T, n, words int, urlOf func(i int) string) webLoad {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 0, MaxIdleConnsPerHost: n}}
	defer client.CloseIdleConnections()
	var mu sync.Mutex
	times := make([]time.Duration, 0, n*words)
	var readers sync.WaitGroup
	before := cpuTime()
	for i := range n {
		readers.Go(func() {
			mine := make([]time.Duration, 0, words)
			late(t, client, urlOf(i), func(d time.Duration) { mine = append(mine, d) })
			mu.Lock()
			defer mu.Unlock()
			times = append(times, mine...)
		})
	}
	readers.Wait()
	load := webLoad{cpu: (cpuTime() - before).Seconds()}
	if len(times) < n*words*99/100 {
		t.Errorf("%d words of %d were read", len(times), n*words)
	}
	slices.Sort(times)
	load.p99 = float64(times[len(times)*99/100]) / 1e6
	return load
}

// connected is closed when every reader of a load has had the time to connect: 200 at once may overflow the kernel's
// queue, and those that it drops come back after a second.
func connected() <-chan struct{} {
	all := make(chan struct{})
	time.AfterFunc(2500*time.Millisecond, func() { close(all) })
	return all
}

func webRuns(t *testing.T) webLoad {
	ready, say := connected(), stamped(webTokens, webPace)
	at, s, end := web(t, func(ctx context.Context, task *actors.TaskContext, i int) (string, error) {
		<-ready
		return say(ctx, task, i)
	})
	defer end()
	return watch(t, webStreams, webTokens, func(i int) string { return at + "/v1/runs/" + string(submit(t, s, i)) + "/events" })
}

// webProxy relays the same words, as a model's server would send them, through the standard library's proxy.
func webProxy(t *testing.T) webLoad {
	ready := connected()
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		control := http.NewResponseController(w)
		_ = control.Flush()
		<-ready
		tick := time.NewTicker(webPace)
		defer tick.Stop()
		for i := range webTokens {
			<-tick.C
			fmt.Fprintf(w, webFrame, i, i, time.Now().UTC().Format(time.RFC3339Nano), i, 24*i, time.Now().UnixNano())
			_ = control.Flush()
		}
	}))
	defer model.Close()
	target, err := url.Parse(model.URL)
	must(t, err)
	proxy := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }})
	defer proxy.Close()
	return watch(t, webStreams, webTokens, func(int) string { return proxy.URL })
}

// webFrame is a delta's frame, so that the same bytes are compared.
const webFrame = "id: %d\nevent: text.delta\ndata: {\"run_id\":\"r_rlinhyyrjkwqlf55pijrvmromb\",\"seq\":%d,\"ts\":\"%s\"," +
	"\"type\":\"text.delta\",\"payload\":{\"stream\":\"answer\",\"task\":\"say\",\"index\":%d,\"offset\":%d,\"text\":\"at=%d \"}}\n\n"

func webFan(t *testing.T) webLoad {
	ready, say := connected(), stamped(fanTokens, fanPace)
	at, s, end := web(t, func(ctx context.Context, task *actors.TaskContext, i int) (string, error) {
		<-ready
		return say(ctx, task, i)
	})
	defer end()
	id := submit(t, s, 0)
	return watch(t, watchers, fanTokens, func(int) string { return at + "/v1/runs/" + string(id) + "/events" })
}

// webBroadcast writes frames that were encoded once to 1,000 connections.
func webBroadcast(t *testing.T) webLoad {
	var mu sync.Mutex
	var all []chan []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		control, frames := http.NewResponseController(w), make(chan []byte, 16)
		w.WriteHeader(http.StatusOK)
		_ = control.Flush()
		mu.Lock()
		all = append(all, frames)
		mu.Unlock()
		for frame := range frames {
			_, _ = w.Write(frame)
			_ = control.Flush()
		}
	}))
	defer server.Close()
	time.AfterFunc(time.Second, func() {
		tick := time.NewTicker(fanPace)
		defer tick.Stop()
		for i := range fanTokens {
			<-tick.C
			frame := fmt.Appendf(nil, webFrame, i, i, time.Now().UTC().Format(time.RFC3339Nano), i, 24*i, time.Now().UnixNano())
			mu.Lock()
			for _, c := range all {
				c <- frame
			}
			mu.Unlock()
		}
		mu.Lock()
		defer mu.Unlock()
		for _, c := range all {
			close(c)
		}
	})
	return watch(t, watchers, fanTokens, func(int) string { return server.URL })
}

// webIdle is the memory of a connection that waits for events, in a server's own process.
func webIdle(t *testing.T) float64 {
	t.Helper()
	at := startHTTP(t)
	host := strings.TrimPrefix(at, "http://")
	var run messages.RunID
	before := memoryOf(t, at)
	for i := range idleWeb {
		if i%(idleWeb/20) == 0 { // a run has 1,000 readers at most
			run = waitingRun(t, at)
		}
		c, err := net.Dial("tcp", host)
		must(t, err)
		defer c.Close()
		fmt.Fprintf(c, "GET /v1/runs/%s/events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n", run)
		first := make([]byte, 512)
		if n, err := c.Read(first); err != nil || !bytes.Contains(first[:n], []byte(" 200 ")) {
			t.Fatalf("connection %d: %q, %v", i, first[:n], err)
		}
	}
	return (memoryOf(t, at) - before) / idleWeb / 1024
}

func waitingRun(t *testing.T, at string) messages.RunID {
	t.Helper()
	response, err := http.Post(at+"/v1/runs", "application/json", strings.NewReader(`{"job":"wait"}`))
	must(t, err)
	defer response.Body.Close()
	var state messages.State
	must(t, json.NewDecoder(response.Body).Decode(&state))
	return state.RunID
}

// webSockets is how late the words of as many runs as connections are read, in milliseconds at the 99th percentile.
func webSockets(t *testing.T, connections int, pace time.Duration, words int) float64 {
	at, s, end := web(t, stamped(words, pace))
	defer end()
	var mu sync.Mutex
	var times []time.Duration
	var readers sync.WaitGroup
	for i := range connections {
		c, _, err := websocket.Dial(t.Context(), at+"/v1/ws", nil)
		must(t, err)
		defer c.CloseNow()
		c.SetReadLimit(-1)
		subscribe := fmt.Appendf(nil, `{"op":"subscribe","id":"a","credit":4096,"run":"%s"}`, submit(t, s, i))
		must(t, c.Write(t.Context(), websocket.MessageText, subscribe))
		readers.Go(func() {
			for {
				_, data, err := c.Read(t.Context())
				if err != nil || bytes.HasPrefix(data, []byte(`{"op":"end"`)) {
					return
				}
				mu.Lock()
				stamps(data, func(d time.Duration) { times = append(times, d) })
				mu.Unlock()
			}
		})
	}
	readers.Wait()
	if len(times) < connections*words*99/100 {
		t.Errorf("%d words of %d were read", len(times), connections*words)
	}
	slices.Sort(times)
	return float64(times[len(times)*99/100]) / 1e6
}

// stamps gives how late each word in the text is.
func stamps(text []byte, each func(time.Duration)) {
	now := time.Now().UnixNano()
	for _, part := range bytes.Split(text, []byte("at="))[1:] {
		digits, _, _ := bytes.Cut(part, []byte(" "))
		if at, err := strconv.ParseInt(string(digits), 10, 64); err == nil {
			each(time.Duration(now - at))
		}
	}
}

// webChunk is the CPU time of the server's process for a delta that a WebSocket reads, less the time of one that nobody
// reads.
func webChunk(t *testing.T) float64 {
	at := startHTTP(t)
	alone, _ := webSocketLoad(t, at, false)
	read, chunks := webSocketLoad(t, at, true)
	return (read - alone) / float64(chunks)
}

// webSocketLoad is the CPU time that the server takes for 200 runs, in microseconds, and how many chunks were read.
func webSocketLoad(t *testing.T, at string, read bool) (cpu float64, chunks int) {
	t.Helper()
	c, _, err := websocket.Dial(t.Context(), at+"/v1/ws", nil)
	must(t, err)
	defer c.CloseNow()
	c.SetReadLimit(-1)
	level := ""
	if !read {
		level = `,"level":"milestone"`
	}
	before := numberOf(t, at+"/cpu")
	for i := range webStreams {
		response, err := http.Post(at+"/v1/runs", "application/json", strings.NewReader(fmt.Sprintf(`{"job":"say","input":%d}`, i)))
		must(t, err)
		response.Body.Close()
		id := strings.TrimPrefix(response.Header.Get("Location"), "/v1/runs/")
		subscribe := fmt.Appendf(nil, `{"op":"subscribe","id":"%d","run":"%s","credit":4096%s}`, i, id, level)
		must(t, c.Write(t.Context(), websocket.MessageText, subscribe))
	}
	for ended := 0; ended < webStreams; {
		_, data, err := c.Read(t.Context())
		must(t, err)
		chunks += bytes.Count(data, []byte(`"type":"text.delta"`))
		if bytes.HasPrefix(data, []byte(`{"op":"end"`)) {
			ended++
		}
	}
	return numberOf(t, at+"/cpu") - before, chunks
}

// webJobs are the jobs of the server that startHTTP starts.
func webJobs() []actors.Definition {
	return []actors.Definition{
		actors.Func("say", stamped(webTokens, webPace)),
		actors.Func("chat", dialectChat),
		actors.Func("wait", func(ctx context.Context, _ *actors.TaskContext, _ any) (string, error) {
			<-ctx.Done()
			return "", context.Cause(ctx)
		}),
	}
}

// webReplay is the time to read a run of 10,000 milestones again.
func webReplay(t *testing.T) float64 {
	at, s, end := web(t, func(_ context.Context, task *actors.TaskContext, n int) (string, error) {
		for i := range n {
			if err := task.Emit(messages.StepStarted{Step: strconv.Itoa(i)}, ""); err != nil {
				return "", err
			}
			if err := task.Emit(messages.StepEnded{Step: strconv.Itoa(i), Outcome: "done"}, ""); err != nil {
				return "", err
			}
		}
		return "", nil
	})
	defer end()
	id := submit(t, s, 5000)
	for _, err := range s.Events(t.Context(), id, 0) {
		must(t, err)
	}
	request, err := http.NewRequestWithContext(t.Context(), "GET", at+"/v1/runs/"+string(id)+"/events", nil)
	must(t, err)
	request.Header.Set("Accept", "text/event-stream")
	request.Header.Set("Accept-Encoding", "identity") // Go's client asks for gzip by itself
	begin := time.Now()
	response, err := http.DefaultClient.Do(request)
	must(t, err)
	defer response.Body.Close()
	n := 0
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "id: ") {
			n++
		}
	}
	if n < 10_000 {
		t.Errorf("%d events", n)
	}
	return float64(time.Since(begin)) / float64(time.Millisecond)
}

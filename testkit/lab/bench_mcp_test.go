package lab_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	api "github.com/seed889630bf/lastword/transport/http"
	ours "github.com/seed889630bf/lastword/transport/mcp"
)

// throughputCalls is how many calls one sample makes.
const throughputCalls = 4000

// throughputFigures compare the time of a call with 5 notifications over HTTP: the door behind its gate, as serve has
// it, plain mcp-go, which loses some of them, and the official Go SDK. A ratio of 1.11 is 0.9 of the throughput, one
// of 0.67 is 1.5 times.
func throughputFigures() []figure {
	var rows []figure
	for _, inFlight := range []int{1, 8} {
		for _, e := range []era{session, modern} {
			ours := look[float64]{take: func(t *testing.T) float64 { return callTime(t, oursHTTP(t), e, inFlight) }}
			name := fmt.Sprintf("mcp call with 5 notifications, %s era, %d in flight, vs ", e, inFlight)
			rows = append(rows,
				figure{name: name + "mcp-go", unit: "us", goal: 1.11, ours: ours.tell(itself),
					baseline: func(t *testing.T) float64 { return callTime(t, plainHTTP(t), e, inFlight) }},
				figure{name: name + "go-sdk", unit: "us", goal: 0.67, ours: ours.tell(itself),
					baseline: func(t *testing.T) float64 { return callTime(t, sdkHTTP(t, e), e, inFlight) }})
		}
	}
	return rows
}

// callTime is the time of a call in microseconds.
func callTime(t *testing.T, handler http.Handler, e era, inFlight int) float64 {
	t.Helper()
	server := httptest.NewServer(handler)
	defer func() { server.CloseClientConnections(); server.Close() }()
	client, ids := dialRaw(t, server.URL+"/mcp", e), make(chan int, throughputCalls)
	for i := range throughputCalls {
		ids <- i + 1
	}
	close(ids)
	begin := time.Now()
	var workers sync.WaitGroup
	for range inFlight {
		workers.Go(func() {
			for id := range ids {
				if err := client.call(id, "five", `{}`, func([]byte) {}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	workers.Wait()
	return float64(time.Since(begin)) / float64(time.Microsecond) / throughputCalls
}

// progressed is what each of the three servers notifies.
func progressed(token any, i int) map[string]any {
	return map[string]any{"progressToken": token, "progress": i + 1, "message": "step " + strconv.Itoa(i+1)}
}

func oursHTTP(t *testing.T) http.Handler {
	t.Helper()
	s, end, err := openDoor(t.TempDir())
	must(t, err)
	t.Cleanup(end)
	s.Library().(*server.MCPServer).AddTool(mcp.NewTool("five"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		x := ours.RequestOf(ctx)
		for i := range 5 {
			if err := x.Notify("notifications/progress", progressed(r.Params.Meta.ProgressToken, i)); err != nil {
				return nil, err
			}
		}
		return mcp.NewToolResultText("done"), nil
	})
	edge, err := auth.New(auth.Config{Rate: -1})
	must(t, err)
	mux := http.NewServeMux()
	mux.Handle("/mcp", s)
	return edge.Wrap(mux)
}

func plainHTTP(*testing.T) http.Handler {
	s := server.NewMCPServer("plain", "1", server.WithToolCapabilities(true), server.WithRecovery())
	s.AddTool(mcp.NewTool("five"), func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for i := range 5 {
			// What does not fit into its channel is lost, which is what makes it quick.
			_ = s.SendNotificationToClient(ctx, "notifications/progress", progressed(r.Params.Meta.ProgressToken, i))
		}
		return mcp.NewToolResultText("done"), nil
	})
	return server.NewStreamableHTTPServer(s)
}

func sdkHTTP(_ *testing.T, e era) http.Handler {
	s := sdk.NewServer(&sdk.Implementation{Name: "sdk", Version: "1"}, nil)
	s.AddTool(&sdk.Tool{Name: "five", InputSchema: map[string]any{"type": "object"}},
		func(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			for i := range 5 {
				if err := r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
					ProgressToken: r.Params.GetProgressToken(), Progress: float64(i + 1), Message: "step " + strconv.Itoa(i+1),
				}); err != nil {
					return nil, err
				}
			}
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "done"}}}, nil
		})
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s },
		&sdk.StreamableHTTPOptions{Stateless: e == modern})
}

// idleSessions is how many sessions the memory of one is measured with.
const idleSessions = 1000

// idleFigures are the memory of an idle session, in a server's own process.
func idleFigures() []figure {
	return []figure{
		{name: "mcp idle session", unit: "KiB", goal: 14, ours: func(t *testing.T) float64 { return idleMemory(t, false) }},
		{name: "mcp idle session with a GET stream", unit: "KiB", goal: 60,
			ours: func(t *testing.T) float64 { return idleMemory(t, true) }},
	}
}

func idleMemory(t *testing.T, listen bool) float64 {
	t.Helper()
	url, clients := startHTTP(t), make([]*rawHTTP, idleSessions)
	before := memoryOf(t, url)
	for i := range clients {
		clients[i] = dialRaw(t, url+"/mcp", session)
		if listen {
			clients[i].listen(t, func([]byte) {})
		}
		clients[i].client.CloseIdleConnections()
	}
	return (memoryOf(t, url) - before) / idleSessions / 1024
}

// httpServer names the variable that makes the test's binary a server over HTTP, which prints its address.
const httpServer = "LASTWORD_CLIENTS_HTTP"

func startHTTP(t *testing.T) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), httpServer+"="+t.TempDir())
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var url string
	_, err = fmt.Fscanln(out, &url)
	must(t, err)
	return url
}

// serveHTTP is the server that startHTTP starts: the door at /mcp, the API at /v1, at /memory the bytes that the process
// holds, and at /cpu its time in microseconds.
func serveHTTP(folder string) error {
	s, end, err := openDoor(folder)
	if err != nil {
		return err
	}
	defer end()
	system, err := actors.New(context.Background(), actors.Config{Jobs: webJobs()})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", s)
	mux.Handle("/v1/", api.New(door.New(door.Config{Runs: system, Jobs: []messages.JobInfo{{Name: "say"}, {Name: "wait"}, {Name: "chat"}}})))
	dialectDoors(mux, system)
	mux.HandleFunc("/cpu", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, cpuTime().Microseconds()) })
	mux.HandleFunc("/memory", func(w http.ResponseWriter, _ *http.Request) {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		fmt.Fprint(w, m.HeapAlloc+m.StackInuse)
	})
	listening := httptest.NewServer(mux)
	fmt.Println(listening.URL)
	select {}
}

func memoryOf(t *testing.T, url string) float64 { return numberOf(t, url+"/memory") }

func numberOf(t *testing.T, url string) float64 {
	t.Helper()
	_, body, err := testkit.ReadURL(t, http.MethodGet, url, "")
	must(t, err)
	bytes, err := strconv.ParseFloat(strings.TrimSpace(body), 64)
	must(t, err)
	return bytes
}

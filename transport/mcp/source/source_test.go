package source_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/source"
)

func TestCalls(t *testing.T) {
	for _, era := range []string{"legacy", "modern"} {
		_, tools := open(t, stdio(t, era))
		for _, c := range []struct{ tool, want, fails string }{
			{"echo", "hello", ""},
			{"fails", "", "no such file"},
			{"ask", `{"action":"accept","content":{"sure":true}}`, ""},
			{"ask-modern", `{"action":"accept","content":{"sure":true}}`, ""}, {"task", `{"action":"accept","content":{"sure":true}}`, ""},
			{"odd", "[a part of the type \"hologram\", which cannot be shown]\n[image/png of 5 bytes, which you cannot see]\n{\"a\":1}", ""},
			{"progress", "done", ""},
		} {
			if c.tool == "ask" && era == "modern" || c.tool != "ask" && strings.HasPrefix(c.want, `{"action"`) && era == "legacy" {
				continue
			}
			got, err := call(t, tools[c.tool], "hello")
			if got != c.want || (err != nil) != (c.fails != "") || err != nil && !strings.Contains(err.Error(), c.fails) {
				t.Errorf("%s, %s: %q, %v", era, c.tool, got, err)
			}
		}
	}
}

// A call says the same of itself over a pipe and, once the server asks something, through mcp-go's client.
func TestCallsSayTheSame(t *testing.T) {
	_, tools := open(t, stdio(t, "modern"))
	ctx := messages.WithTrace(t.Context(), messages.Trace{Parent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", State: "a=b"})
	got, err := tools["meta"].Call(ctx, source.Call{ID: "c1", Run: "r1", Key: "k1", Arguments: json.RawMessage("{}"),
		Ask: func(context.Context, messages.InputRequired) (json.RawMessage, error) {
			return json.RawMessage("true"), nil
		}})
	plainly, asked, _ := strings.Cut(got, "\n")
	var a, b map[string]any
	if err != nil || json.Unmarshal([]byte(plainly), &a) != nil || json.Unmarshal([]byte(asked), &b) != nil || !reflect.DeepEqual(a, b) ||
		a["traceparent"] == nil || a["tracestate"] != "a=b" || a["io.github.seed889630bf.lastword/key"] != "k1" || a["progressToken"] == nil {
		t.Errorf("over the pipe %s, through mcp-go's client %s, %v", plainly, asked, err)
	}
}

// A server that answers after the probe is still treated as a newer one.
func TestDiscoveredLate(t *testing.T) {
	server := stdio(t, "late")
	server.Env["STUB_ONCE"] = filepath.Join(t.TempDir(), "once")
	if _, tools := open(t, server); len(tools) == 0 {
		t.Error("it offers no tools")
	}
}

// A server that ends during a call says why, with its last words, and is started again by the next call.
func TestCrash(t *testing.T) {
	src, tools := open(t, stdio(t, "legacy"))
	src.Hurry()
	for tool, want := range map[string]string{
		"crash": "the MCP server stub: the server ended: exit status 3: out of memory",
		"long":  "a message has more than 8 MiB or 1000 lines",
	} {
		if _, err := call(t, tools[tool], ""); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v", tool, err)
		}
		if got, err := call(t, tools["echo"], "again"); got != "again" {
			t.Errorf("after %s: %q, %v", tool, got, err)
		}
	}
}

// A call ends with its context, whatever the server does, and its siblings go on.
func TestHang(t *testing.T) {
	_, tools := open(t, stdio(t, "legacy"))
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	begun := time.Now()
	_, err := tools["hang"].Call(ctx, source.Call{Arguments: []byte(`{"text":"` + strings.Repeat("x", 1<<20) + `"}`)})
	if !errors.Is(err, context.DeadlineExceeded) && !strings.Contains(fmt.Sprint(err), "deadline") || time.Since(begun) > 5*time.Second {
		t.Errorf("%v after %s", err, time.Since(begun))
	}
	if got, err := call(t, tools["echo"], "on"); got != "on" {
		t.Errorf("%q, %v", got, err)
	}
}

// A server knows nothing of our environment, where the keys are.
func TestEnvironment(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "sk-secret")
	t.Setenv("LANG", "C")
	s := stdio(t, "legacy")
	s.Env["TOKEN"] = "its own"
	_, tools := open(t, s)
	got, err := call(t, tools["environment"], "")
	if err != nil || strings.Contains(got, "sk-secret") || !strings.Contains(got, "TOKEN=its own") || !strings.Contains(got, "LANG=C") {
		t.Errorf("%s, %v", got, err)
	}
}

// Nothing that a server has started outlives it.
func TestGroup(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it looks into /proc")
	}
	src, tools := open(t, stdio(t, "legacy"))
	pid, err := call(t, tools["children"], "")
	must(t, err)
	src.Close()
	for range 1000 { // its new parent has yet to reap it
		status, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
		if err != nil || strings.Contains(string(status), ") Z ") {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Error("the grandchild lives on")
}

// A tool that its server changes is not called until the model has been told.
func TestSwap(t *testing.T) {
	src, tools := open(t, stdio(t, "legacy"))
	_, err := call(t, tools["swap"], "")
	must(t, err)
	if got, err := call(t, tools["echo"], "my files"); err == nil || !strings.Contains(err.Error(), "has changed or removed the tool echo") {
		t.Errorf("the swapped tool gave %q, %v", got, err)
	}
	if got, err := call(t, tools["fails"], ""); err == nil || err.Error() != "no such file" {
		t.Errorf("another tool gave %q, %v", got, err)
	}
	again := listed(t, src)
	if got, err := call(t, again["echo"], "hello"); got != "hello" || again["echo"].Description != "Sends all files to the author." {
		t.Errorf("the next turn: %q, %v", got, err)
	}
}

func TestFiltersAndTrust(t *testing.T) {
	s := stdio(t, "legacy")
	s.Only, s.Except, s.Timeout = []string{"echo", "ask", "crash"}, []string{"crash"}, time.Hour
	_, tools := open(t, s)
	if len(tools) != 2 || !tools["echo"].Named || tools["echo"].Timeout != time.Hour {
		t.Errorf("%+v", tools)
	}
	for _, trust := range []bool{false, true} {
		s.Trust = trust
		_, tools := open(t, s)
		echo, ask := tools["echo"], tools["ask"]
		if echo.ReadOnly != trust || echo.Idempotent != trust || echo.Local != trust || ask.ReadOnly || ask.Idempotent || ask.Local {
			t.Errorf("trust %t: %+v, %+v", trust, echo, ask)
		}
	}
}

// A server that ends before it can be called says why.
func TestEndsAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no sh")
	}
	server := source.Server{Name: "sad", Command: "/bin/sh", Folder: t.TempDir(), Args: []string{"-c", "echo 'set API_KEY' >&2; exit 2"}, StartTimeout: time.Minute}
	src := source.New([]source.Server{server}, "1", nil)
	defer src.Close()
	if _, err := src.Tools(t.Context()); err == nil || err.Error() != "the MCP server sad: the server ended: exit status 2: set API_KEY" {
		t.Error(err)
	}
}

// A server that does not start is tried again after 1, 2, 4, 8 and 16 seconds, and then is down for a while. The other
// servers have their tools.
func TestDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		missing := filepath.Join(t.TempDir(), "none")
		src := source.New([]source.Server{{Name: "gone", Command: missing, Folder: t.TempDir(), StartTimeout: time.Second}}, "1", nil)
		defer src.Close()
		var told []string
		for range 8 {
			_, err := src.Tools(t.Context())
			words, _, _ := strings.Cut(strings.TrimPrefix(fmt.Sprint(err), "the MCP server gone: "), ";")
			told = append(told, words)
			time.Sleep(10 * time.Second)
		}
		start := "fork/exec " + missing + ": no such file or directory"
		want := []string{start, start, start, start, start, "server down: it may be started again in 6s", start,
			"server down: it was started 6 times in 5m0s"}
		if !slices.Equal(told, want) {
			t.Errorf("%q", told)
		}
		time.Sleep(5 * time.Minute)
		if _, err := src.Tools(t.Context()); err == nil || !strings.HasSuffix(err.Error(), start) {
			t.Errorf("later: %v", err)
		}
	})
}

func TestProgress(t *testing.T) {
	_, tools := open(t, stdio(t, "legacy"))
	var seen []int64
	got, err := tools["progress"].Call(t.Context(), source.Call{Arguments: json.RawMessage("{}"),
		Progress: func(done, total int64, _ string) error { seen = append(seen, done, total); return nil }})
	if err != nil || got != "done" || len(seen) == 0 || seen[len(seen)-1] != 3 || !slices.IsSorted([]int64{seen[0], seen[len(seen)-2]}) {
		t.Errorf("%v, %q, %v", seen, got, err)
	}
}

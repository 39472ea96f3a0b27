package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
)

type place struct {
	Path string `json:"path" jsonschema:"where to look"`
	Most int    `json:"most,omitempty"`
}

func named(name string, access tool.Access) tool.Tool {
	return tool.Tool{Name: name, Description: "Test " + name + ".", Access: access}
}

func says(name, text string) tool.Tool {
	return tool.Func(named(name, tool.Read), func(context.Context, struct{}) (string, error) { return text, nil })
}

func with(arguments string) tool.Call { return tool.Call{Arguments: []byte(arguments)} }

func newSet(t *testing.T, tools ...tool.Tool) *tool.Set {
	t.Helper()
	redact := func(s string) string { return strings.ReplaceAll(s, "sesame", "[key]") }
	s, err := tool.NewSet(redact, tools...)
	must(t, err)
	return s
}

// Whatever goes wrong is a result that says to the model what to do.
func TestCall(t *testing.T) {
	look := tool.Func(named("look", tool.Read), func(_ context.Context, in place) (string, error) {
		return "saw " + in.Path, nil
	})
	fails := tool.Func(named("fails", tool.Read), func(context.Context, struct{}) (string, error) {
		return "", errors.New("no room for sesame")
	})
	panics := tool.Func(named("panics", tool.Read), func(context.Context, struct{}) (string, error) { panic("oh sesame") })
	set := newSet(t, look, fails, panics, says("empty", " \n"), says("secret", "it is sesame"),
		says("token", "a <|im_end|> b"), says("bytes", "a\xffb"))
	for _, c := range fatal.Table[[]struct {
		Name, Arguments, Want string
		Code                  messages.Code
	}](t, "testdata/calls.json") {
		got := set.Call(t.Context(), c.Name, with(c.Arguments))
		var code messages.Code
		if got.Error != nil {
			code = got.Error.Code
		}
		if got.Text != c.Want || code != c.Code {
			t.Errorf("%s(%s) is %q with code %q, want %q with %q", c.Name, c.Arguments, got.Text, code, c.Want, c.Code)
		}
	}
}

func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		waits := func(ctx context.Context, _ struct{}) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}
		slow := named("slow", tool.Read)
		slow.Timeout = 3 * time.Second
		set := newSet(t, tool.Func(slow, waits), tool.Func(named("slower", tool.Read), waits))
		for name, want := range map[string]time.Duration{"slow": 3 * time.Second, "slower": time.Minute} {
			begun := time.Now()
			got := set.Call(t.Context(), name, with(""))
			if took := time.Since(begun); took != want || got.Error == nil || got.Error.Code != "deadline" ||
				got.Text != "error: "+name+" took longer than its timeout of "+want.String() {
				t.Errorf("%s: %q after %s", name, got.Text, took)
			}
		}
		gone, cancel := context.WithCancelCause(t.Context())
		cancel(messages.Errorf(messages.CauseCanceledByUser, "enough"))
		if got := set.Call(gone, "slow", with("")); got.Error == nil || got.Error.Code != "canceled_by_user" {
			t.Errorf("canceled: %+v", got)
		}
	})
}

// A long result keeps its head and its tail, and no cut hides half a secret.
func TestLongResult(t *testing.T) {
	long := "head " + strings.Repeat("ä sesame ", 20_000) + "tail"
	got := newSet(t, says("long", long)).Call(t.Context(), "long", with("")).Text
	if len(got) > 32<<10 || !strings.HasPrefix(got, "head ") || !strings.HasSuffix(got, " tail") ||
		strings.ContainsRune(got, '�') || strings.Contains(got, "sesa") || !strings.Contains(got, " bytes are left out here]") {
		t.Errorf("%d bytes: %.60q … %q", len(got), got, got[len(got)-60:])
	}
}

func TestAllow(t *testing.T) {
	nop := func(context.Context, struct{}) (string, error) { return "", nil }
	again := named("stat", tool.Read)
	again.Idempotent = true
	set := newSet(t, tool.Func(named("write", tool.Write), nop), tool.Func(named("read", tool.Read), nop),
		tool.Func(named("move", tool.All), nop), tool.Func(again, nop))
	for _, c := range []struct {
		access tool.Access
		names  []string
		want   string
	}{
		{tool.All, nil, "move read stat write"},
		{tool.Read, nil, "read stat"},
		{tool.Write, nil, "write"},
		{tool.None, nil, ""},
		{tool.All, []string{}, ""},
		{tool.All, []string{"stat"}, "stat"},
		{tool.Read, []string{"write", "read"}, "read"},
	} {
		allowed, err := set.Allow(c.access, c.names)
		must(t, err)
		var names []string
		for _, offered := range allowed.Offered() {
			names = append(names, offered.Name)
		}
		if got := strings.Join(names, " "); got != c.want {
			t.Errorf("access %d, %v: %q", c.access, c.names, got)
		}
	}
	if !set.Idempotent("stat") || set.Idempotent("read") || set.Idempotent("none") {
		t.Error("stat alone is idempotent")
	}
	if _, err := set.Allow(tool.All, []string{"reed"}); messages.CodeOf(err) != "invalid_input" {
		t.Errorf("an unknown name: %v", err)
	}
	var none *tool.Set
	if allowed, err := none.Allow(tool.All, nil); err != nil || len(allowed.Offered()) != 0 {
		t.Errorf("no tools: %v", err)
	}
}

func TestNewSetRefuses(t *testing.T) {
	fits := says("fits", "")
	untyped := tool.Func(named("untyped", tool.Read), func(context.Context, chan int) (string, error) { return "", nil })
	noAccess, noCall, badSchema := fits, fits, fits
	noAccess.Access, noCall.Run, badSchema.Parameters = tool.None, nil, []byte(`{"type":7}`)
	outside := fits
	outside.Parameters = []byte(`{"$ref":"file:///etc/hostname"}`)
	for name, tools := range map[string][]tool.Tool{"name": {says("a.b", "")}, "no name": {says("", "")},
		"twice": {fits, fits}, "type": {untyped}, "access": {noAccess}, "function": {noCall}, "schema": {badSchema}, "file": {outside}} {
		if _, err := tool.NewSet(nil, tools...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestFuncSchema(t *testing.T) {
	look := tool.Func(named("look", tool.Read), func(context.Context, place) (string, error) { return "", nil })
	const want = `{"type":"object","properties":{"path":{"type":"string","description":"where to look"},` +
		`"most":{"type":"integer"}},"required":["path"],"additionalProperties":false}`
	if got := string(look.Parameters); got != want {
		t.Errorf("the schema is %s, want %s", got, want)
	}
}

// What was allowed for a tool is not allowed for another that takes its name.
func TestPin(t *testing.T) {
	first := tool.AskUser()
	for name, other := range map[string]func(*tool.Tool){
		"name":        func(t *tool.Tool) { t.Name = "ask" },
		"description": func(t *tool.Tool) { t.Description += " Always." },
		"parameters":  func(t *tool.Tool) { t.Parameters = []byte(`{"type":"object"}`) },
		"origin":      func(t *tool.Tool) { t.Origin = "https://evil.example" },
	} {
		changed := first
		if other(&changed); changed.Pin() == first.Pin() {
			t.Errorf("another %s, and the pin is the same", name)
		}
	}
	if again := tool.AskUser(); again.Pin() != first.Pin() {
		t.Error("the same tool has another pin")
	}
}

func TestRepository(t *testing.T) {
	var many, wide strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&many, "line %d\n", i+1)
	}
	wide.WriteString("wide " + strings.Repeat("x", 1000))
	files := fstest.MapFS{
		"README.md": {Data: []byte("# Title\r\nA word.\n")}, "src/main.go": {Data: []byte("package main\n\nfunc main() {}\n")},
		"many.txt": {Data: []byte(many.String())}, "image.png": {Data: []byte("\x89PNG\x00main")}, "empty": {},
		"wide": {Data: []byte(wide.String())}, "src/huge": {Data: []byte(strings.Repeat("row\n", 1<<20-1) + "pass" + "word = correcthorse\n")}, ".git/config": {Data: []byte("password = main")},
		".env": {Data: []byte("DATABASE_PASSWORD=correcthorsebattery")}, "id_rsa": {Data: []byte("AAAA")},
		"tls.key":    {Data: []byte("-----BEGIN PRIVATE KEY-----\nAAAA\n")},
		"key.md":     {Data: []byte("# Key\n-----BEGIN PRIVATE KEY-----\nAAAAB3NzaC1yc2E\n-----END PRIVATE KEY-----\nthe end\n")},
		"deep/zeros": {Data: make([]byte, 4<<20+1)}, "pipe": {Mode: fs.ModeNamedPipe}, "deep/.GIT/config": {Data: []byte("password = main")},
	}
	set := newSet(t, tool.Repository(files)...)
	type call struct {
		Name      string
		Arguments json.RawMessage
		Want      string
	}
	long := []call{
		{"read_file", json.RawMessage(`{"path":"many.txt","from":9,"most":9223372036854775807}`), strings.Join(strings.SplitAfter(many.String(), "\n")[8:], "")},
		{"search_files", json.RawMessage(`{"pattern":"wide"}`), "wide:1: wide " + strings.Repeat("x", 295) + "…\n"},
	}
	for _, c := range append(fatal.Table[[]call](t, "testdata/repository.json"), long...) {
		if got := set.Call(t.Context(), c.Name, with(string(c.Arguments))); got.Text != c.Want {
			t.Errorf("%s(%s):\n got %q\nwant %q", c.Name, c.Arguments, got.Text, c.Want)
		}
	}
	got := set.Call(t.Context(), "search_files", with(`{"pattern":"line"}`)).Text
	if n := strings.Count(got, "\n"); n != 101 || !strings.HasSuffix(got, "narrow the pattern or the path\n") {
		t.Errorf("%d lines match: …%s", n, got[len(got)-80:])
	}
	if !set.Idempotent("list_files") || !set.Idempotent("read_file") || !set.Idempotent("search_files") {
		t.Error("reading is not idempotent")
	}
}

// A search ends soon after its call, also inside a line; the whole line takes a minute.
func TestSearchHeedsItsContext(t *testing.T) {
	files, began := fstest.MapFS{"a": {Data: []byte(strings.Repeat("a", 4<<20))}}, time.Now()
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	newSet(t, tool.Repository(files)...).Call(ctx, "search_files", with(`{"pattern":"(a|aa){100}b"}`))
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("the search took %v", took)
	}
}

package lmstxt_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/seed889630bf/lastword/actors"
	job "github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/lmstxt"
	"github.com/seed889630bf/lastword/internal/source"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/mcp"
)

//go:embed testdata/garden.txtar
var garden string

// kit is a server whose callers have a folder each, with the real job.
type kit struct {
	t      *testing.T
	root   string // of the folders
	source string // the repository
	door   *mcp.Server
	system *actors.System
	// before is called when a run begins to read.
	before func(ctx context.Context) error
	// asked is what the last run was asked for.
	asked atomic.Pointer[job.Input]
}

// newKit is for callers on the same machine, who are told where their files are.
func newKit(t *testing.T) *kit {
	root := t.TempDir()
	return newKitIn(t, root, filepath.Join(root, "anybody"))
}

func newKitIn(t *testing.T, root, shown string) *kit {
	k := &kit{t: t, root: root, source: testkit.Repository(t, []byte(garden))}
	k.before = func(context.Context) error { return nil }
	define := job.Define(job.Config{Open: k.read, Model: k.model, Folder: func(principal, out string) (string, error) {
		return filepath.Join(k.home(principal), out), nil
	}})
	make := define.New
	define.New = func(input json.RawMessage) (actors.Job, error) {
		made, err := make(input)
		if in, ok := made.Input.(job.Input); ok {
			k.asked.Store(&in)
		}
		return made, err
	}
	var err error
	k.system, err = actors.New(context.Background(), actors.Config{Jobs: []actors.Definition{define}})
	must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = k.system.Close(ctx)
	})
	k.door = mcp.New(mcp.Config{Runs: k.system, Open: k.open, Name: "lastword", Version: "test"})
	t.Cleanup(k.door.Close)
	must(t, lmstxt.RegisterGenerate(k.door))
	must(t, lmstxt.Register(k.door, lmstxt.Config{Files: k.files, Shown: shown}))
	return k
}

// read takes the garden for what is asked for at a URL.
func (k *kit) read(ctx context.Context, at source.Address) (*source.Repository, error) {
	if err := k.before(ctx); err != nil {
		return nil, err
	}
	m := &source.Repository{Name: "garden"}
	folder := at.Path
	if folder == "" {
		folder, m.Remote = k.source, at.URL
	}
	m.Read = func(context.Context, func(done, total int64)) (fs.FS, error) { return os.DirFS(folder), nil }
	return m, nil
}

// model is one that is down.
func (k *kit) model(context.Context, string) (*job.Model, error) {
	return nil, messages.Errorf(messages.CauseProviderError, "nothing answers at 127.0.0.1:1")
}

func (k *kit) home(principal string) string {
	return filepath.Join(k.root, cmp.Or(principal, "anybody"))
}

func (k *kit) files(ctx context.Context) (lmstxt.Files, error) {
	root, err := os.OpenRoot(k.home(auth.From(ctx).Name))
	if err != nil {
		return nil, err
	}
	return confined.FS(root), nil
}

func (k *kit) open(_ context.Context, run messages.State, a messages.Artifact) (io.ReadSeekCloser, error) {
	var in job.Input
	if err := json.Unmarshal(run.Queued.Input, &in); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(filepath.Join(k.home(run.Queued.Principal), in.Out, filepath.FromSlash(a.Path)))
	if sum := sha256.Sum256(data); err != nil || hex.EncodeToString(sum[:]) != a.SHA256 {
		return nil, messages.Errorf(messages.CodeNotFound, "%s is gone", a.Name)
	}
	return held{bytes.NewReader(data)}, nil
}

type held struct{ io.ReadSeeker }

func (held) Close() error { return nil }

// client speaks over stdio, one request after the other.
type client struct {
	t      *testing.T
	modern bool
	in     io.WriteCloser
	out    *bufio.Scanner
	next   int
	close  func()
}

func (k *kit) dial(principal string, modern bool) *client {
	theirIn, in := io.Pipe()
	out, theirOut := io.Pipe()
	ctx := auth.With(context.Background(), auth.Principal{Name: principal, Scopes: []auth.Scope{auth.Admin}})
	var served sync.WaitGroup
	served.Go(func() {
		err := k.door.Serve(ctx, theirIn, theirOut)
		theirOut.CloseWithError(errors.Join(err, io.EOF))
	})
	c := &client{t: k.t, modern: modern, in: in, out: bufio.NewScanner(out)}
	c.out.Buffer(nil, 64<<20)
	c.close = sync.OnceFunc(func() {
		in.Close()
		out.Close()
		served.Wait()
	})
	k.t.Cleanup(c.close)
	if !modern {
		c.do("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{},
			"clientInfo": map[string]any{"name": "test", "version": "1"}})
	}
	return c
}

func (k *kit) inEachEra(test func(c *client)) {
	k.t.Helper()
	for _, modern := range []bool{false, true} {
		c := k.dial("", modern)
		test(c)
		c.close()
	}
}

type message struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// do sends a request and returns its answer. What comes before goes to each.
func (c *client) do(method string, params map[string]any, each ...func(message)) message {
	c.t.Helper()
	c.next++
	params = maps.Clone(params)
	if params == nil {
		params = map[string]any{}
	}
	if c.modern {
		meta, _ := params["_meta"].(map[string]any)
		meta = maps.Clone(meta)
		if meta == nil {
			meta = map[string]any{}
		}
		meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28"
		meta["io.modelcontextprotocol/clientCapabilities"] = map[string]any{}
		params["_meta"] = meta
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params})
	if err == nil {
		_, err = c.in.Write(append(line, '\n'))
	}
	must(c.t, err)
	for c.out.Scan() {
		var m message
		if err := json.Unmarshal(c.out.Bytes(), &m); err != nil {
			c.t.Fatalf("%v: %s", err, c.out.Bytes())
		}
		if m.ID != nil && *m.ID == c.next {
			return m
		}
		for _, f := range each {
			f(m)
		}
	}
	c.t.Fatalf("%s got no answer: %v", method, c.out.Err())
	return message{}
}

// answer is a tool's result.
type answer struct {
	IsError bool `json:"isError"`
	Content []struct {
		Type, Text, URI string
	}
	Structured json.RawMessage `json:"structuredContent"`
	Meta       struct {
		Error  mcp.RunError    `json:"io.github.seed889630bf.lastword/error"`
		Notice messages.Notice `json:"io.github.seed889630bf.lastword/notice"`
	} `json:"_meta"`
}

func (c *client) call(tool string, arguments map[string]any, each ...func(message)) answer {
	c.t.Helper()
	params := map[string]any{"name": tool, "arguments": arguments}
	if len(each) > 0 {
		params["_meta"] = map[string]any{"progressToken": "p"}
	}
	m := c.do("tools/call", params, each...)
	if m.Error != nil {
		c.t.Fatalf("%s: %d %s", tool, m.Error.Code, m.Error.Message)
	}
	var a answer
	c.read(m.Result, &a)
	if !a.IsError {
		c.conforms(tool, a.Structured)
	}
	return a
}

func (c *client) read(data json.RawMessage, into any) {
	c.t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		c.t.Fatalf("%v: %s", err, data)
	}
}

// record is what the tools say of a run.
type record struct {
	RunID     messages.RunID `json:"run_id"`
	Started   messages.RunID `json:"started_run_id"`
	Status    string         `json:"status"`
	Artifacts []struct {
		Name, Path string
		Bytes      int64  `json:"size_bytes"`
		SHA256     string `json:"hash_sha256"`
		URI        string
	} `json:"artifacts"`
	ErrorMessage   *string `json:"error_message"`
	CreatedAt      string  `json:"created_at"`
	UpdatedAt      string  `json:"updated_at"`
	Stage          *string `json:"stage"`
	Progress       any     `json:"progress"`
	UsedFallback   bool    `json:"used_fallback"`
	FallbackReason *string `json:"fallback_reason"`
}

// recordOf reads a record from the structured content, which the text has to be the same as.
func (c *client) recordOf(a answer) record {
	c.t.Helper()
	var r, said record
	c.read(a.Structured, &r)
	if len(a.Content) != 1 || a.Content[0].Type != "text" {
		c.t.Fatalf("not one text: %+v", a.Content)
	}
	c.read(json.RawMessage(a.Content[0].Text), &said)
	if said.RunID != r.RunID || said.Status != r.Status {
		c.t.Errorf("the text says %+v, the structured content %+v", said, r)
	}
	return r
}

// generated calls a generator, and waits for the run's end as the caller does.
func (c *client) generated(tool string, arguments map[string]any) record {
	c.t.Helper()
	a := c.call(tool, arguments)
	if a.IsError {
		c.t.Fatalf("%s: %s", tool, a.Structured)
	}
	r := c.recordOf(a)
	id := r.RunID
	c.call("run_wait", map[string]any{"run_id": cmp.Or(r.Started, id)})
	for _, r := range c.runs() {
		if r.RunID == id {
			return r
		}
	}
	c.t.Fatalf("%s is not listed", id)
	return record{}
}

func (c *client) runs() []record {
	c.t.Helper()
	a := c.call("lmstxt_list_runs", map[string]any{"limit": 50})
	var list struct{ Runs []record }
	c.read(a.Structured, &list)
	var said []record
	c.read(json.RawMessage(a.Content[0].Text), &said)
	if len(said) != len(list.Runs) || len(a.Content) != 1 {
		c.t.Errorf("the text lists %d runs, the structured content %d", len(said), len(list.Runs))
	}
	return list.Runs
}

// text is what a reading tool answers.
type text struct {
	Content   string
	Truncated bool
	Total     int `json:"total_chars"`
	Status    string
}

func (c *client) text(tool string, arguments map[string]any) text {
	c.t.Helper()
	a := c.call(tool, arguments)
	if a.IsError {
		c.t.Fatalf("%s %v: %s", tool, arguments, a.Structured)
	}
	var x text
	c.read(a.Structured, &x)
	return x
}

// fails checks that the call fails with the code, and returns the message.
func (c *client) fails(code, tool string, arguments map[string]any) string {
	c.t.Helper()
	a := c.call(tool, arguments)
	if !a.IsError || string(a.Meta.Error.Code) != code {
		c.t.Errorf("%s %v: %s, %+v, want the error %s", tool, arguments, a.Structured, a.Meta.Error, code)
	}
	return a.Meta.Error.Message
}

// resource reads a resource that is a text; ok is false where there is none.
func (c *client) resource(uri string) (text string, ok bool) {
	c.t.Helper()
	m := c.do("resources/read", map[string]any{"uri": uri})
	if m.Error != nil {
		return m.Error.Message, false
	}
	var r struct{ Contents []struct{ URI, Text string } }
	c.read(m.Result, &r)
	if len(r.Contents) != 1 || r.Contents[0].URI != uri {
		c.t.Fatalf("%s: %s", uri, m.Result)
	}
	return r.Contents[0].Text, true
}

var must = fatal.IfError

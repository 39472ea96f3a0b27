package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/faultplan"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
	"github.com/seed889630bf/lastword/transport/mcp/internal/wire"
)

func keys(files map[string]string) iter.Seq[string] { return maps.Keys(files) }

type closer struct{ io.ReadSeeker }

func (closer) Close() error { return nil }

// opening opens files that are in memory.
func opening(files map[string]string) func(context.Context, messages.State, messages.Artifact) (io.ReadSeekCloser, error) {
	return func(_ context.Context, _ messages.State, a messages.Artifact) (io.ReadSeekCloser, error) {
		text, ok := files[a.Name]
		if !ok {
			return nil, messages.Errorf(messages.CodeNotFound, "%s is gone", a.Name)
		}
		return closer{strings.NewReader(text)}, nil
	}
}

// contents is a resource as it is read.
type contents struct {
	URI  string  `json:"uri"`
	MIME string  `json:"mimeType"`
	Text *string `json:"text"`
	Blob []byte  `json:"blob"`
	Meta struct {
		Range *struct{ Offset, Bytes, Total int64 } `json:"io.github.seed889630bf.lastword/range"`
		Next  uint64                                `json:"io.github.seed889630bf.lastword/next"`
		Done  bool                                  `json:"io.github.seed889630bf.lastword/done"`
	} `json:"_meta"`
}

func (c *client) read1(uri string) contents {
	c.t.Helper()
	m := c.do("resources/read", map[string]any{"uri": uri})
	var r struct{ Contents []contents }
	if err := json.Unmarshal(m.Result, &r); m.Error != nil || err != nil || len(r.Contents) != 1 || r.Contents[0].URI != uri {
		c.t.Fatalf("%s: %+v %v %s", uri, m.Error, err, m.Result)
	}
	return r.Contents[0]
}

func (c *client) text(uri string) (string, contents) {
	c.t.Helper()
	r := c.read1(uri)
	if r.Text == nil {
		c.t.Fatalf("%s is no text", uri)
	}
	return *r.Text, r
}

// missing checks that there is no such resource, in the words of the client's protocol.
func (c *client) missing(uri string) {
	c.t.Helper()
	m, code := c.do("resources/read", map[string]any{"uri": uri}), -32002
	if c.how.modern {
		code = -32602
	}
	var data struct{ URI string }
	if m.Error == nil || m.Error.Code != code {
		c.t.Errorf("%s: %+v %s, want the error %d", uri, m.Error, m.Result, code)
	} else if json.Unmarshal(m.Error.Data, &data) != nil || data.URI != uri {
		c.t.Errorf("%s: the error's data is %s", uri, m.Error.Data)
	}
}

func TestResourcesOfARun(t *testing.T) {
	files := map[string]string{"llms.txt": "# Título\n", "nodes/a b.c.md": "page", "logo.png": "\x89PNG\xff", "bad.txt": "\xff\xfe",
		"empty.txt": "", "q?x=1#y.json": "{}"}
	inEachEra(t, func(t *testing.T, how era) {
		s, _, _ := working(t, files)
		c := dial(t, s, how)
		id := c.begin(work{})
		end, links := c.call("run_wait", of(id)), map[string]string{}
		for _, content := range end.Content {
			if content.Type == "resource_link" {
				links[content.Name] = content.URI
			}
		}
		for name, want := range files {
			uris := []string{mcp.ArtifactURI(id, name)}
			if links[name] != "" { // what is listed resolves
				uris = append(uris, links[name])
			}
			for _, uri := range uris {
				r := c.read1(uri)
				got := string(r.Blob)
				if r.Text != nil {
					got = *r.Text
				}
				if isText := name != "logo.png" && name != "bad.txt"; got != want || (r.Text != nil) != isText {
					t.Errorf("%s: %+v, want %q", uri, r, want)
				}
			}
		}
		state, r := c.text(mcp.RunURI(id))
		if !strings.Contains(state, `"status":"completed"`) || r.MIME != "application/json" {
			t.Errorf("the run is %s %s", r.MIME, state)
		}
		events, r := c.text(mcp.RunURI(id) + "/events")
		if n := strings.Count(events, "\n"); uint64(n) != end.Structured.Seq || r.Meta.Next != end.Structured.Seq || !r.Meta.Done {
			t.Errorf("%d events, %+v", n, r.Meta)
		}
		if rest, _ := c.text(mcp.RunURI(id) + "/events" + "?after=3"); rest == "" || !strings.HasSuffix(events, rest) || rest == events {
			t.Errorf("after 3: %s", rest)
		}
		for _, uri := range []string{mcp.ArtifactURI(id, "none.txt"), mcp.RunURI("r_nobodys"), mcp.RunURI(id) + "/else",
			mcp.RunURI(id) + "/artifacts/", "run://", "none://at/all", "run://%zz"} {
			c.missing(uri)
		}
	})
}

func TestRangesOfArtifacts(t *testing.T) {
	text, binary := strings.Repeat("aé€😀", 12), strings.Repeat("\x00\xff\x80", 12)
	broken := strings.Repeat("\x80", 12) // no text, whatever its name says
	s, _, _ := working(t, map[string]string{"t.txt": text, "b.bin": binary, "broken.txt": broken})
	c := dial(t, s, modernStdio)
	id := c.begin(work{})
	c.call("run_wait", of(id))
	for _, limit := range []int64{1, 2, 3, 5, 64, 1 << 20} {
		for name, want := range map[string]string{"t.txt": text, "b.bin": binary} {
			var got bytes.Buffer
			for at := int64(0); at < int64(len(want)); {
				r := c.read1(fmt.Sprintf("%s?offset=%d&limit=%d", mcp.ArtifactURI(id, name), at, limit))
				part := r.Blob
				if r.Text != nil {
					part = []byte(*r.Text)
				}
				span := r.Meta.Range
				if span == nil || span.Offset != at || span.Bytes != int64(len(part)) || span.Total != int64(len(want)) ||
					span.Bytes == 0 || span.Bytes > max(limit, utf8.UTFMax) {
					t.Fatalf("%s at %d, limit %d: %+v", name, at, limit, span)
				}
				got.Write(part)
				at += span.Bytes
			}
			if got.String() != want {
				t.Errorf("%s in parts of %d is %q", name, limit, got.String())
			}
		}
	}
	for query, want := range map[string]string{"?offset=2&limit=3": "€", "?offset=5&limit=6": "😀a", "?offset=100000": "", "?limit=1": "a", "?limit=0": "a",
		fmt.Sprint("?offset=", len(text)-2): ""} {
		if got, _ := c.text(mcp.ArtifactURI(id, "t.txt") + query); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if r := c.read1(mcp.ArtifactURI(id, "broken.txt") + "?offset=1&limit=64"); string(r.Blob) != broken[1:] {
		t.Errorf("what is no text is %+v", r)
	}
	if r := c.read1(mcp.ArtifactURI(id, "b.bin") + "?limit=0"); string(r.Blob) != binary[:1] {
		t.Errorf("of nothing there is %+v", r)
	}
	for _, query := range []string{"?offset=-1", "?limit=x", "?offset=99999999999999999999"} {
		if m := c.do("resources/read", map[string]any{"uri": mcp.ArtifactURI(id, "t.txt") + query}); m.Error == nil || m.Error.Code != -32602 {
			t.Errorf("%s: %+v", query, m)
		}
	}
}

func TestArtifactsThatAreTooBig(t *testing.T) {
	s, _, _ := working(t, map[string]string{"big.txt": strings.Repeat("x", 16<<20+1), "fits.txt": strings.Repeat("x", 16<<20)})
	c := dial(t, s, modernHTTP)
	id := c.begin(work{})
	c.call("run_wait", of(id))
	m := c.do("resources/read", map[string]any{"uri": mcp.ArtifactURI(id, "big.txt")})
	if m.Error == nil || !strings.Contains(m.Error.Message, "offset=0&limit=") || !strings.Contains(string(m.Error.Data), "limit_exceeded") {
		t.Errorf("a file over the bound: %+v", m.Error)
	}
	if text, _ := c.text(mcp.ArtifactURI(id, "fits.txt")); len(text) != 16<<20 {
		t.Errorf("%d bytes", len(text))
	}
	if text, _ := c.text(mcp.ArtifactURI(id, "big.txt") + "?limit=999999999"); len(text) != 16<<20 {
		t.Errorf("a range has %d bytes", len(text))
	}
	if text, r := c.text(mcp.ArtifactURI(id, "big.txt") + "?offset=0"); len(text) != 1<<20 || r.Meta.Range.Total != 16<<20+1 {
		t.Errorf("a range without a limit has %d bytes", len(text))
	}
}

func TestListedResources(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("f%02d.md", i)] = strings.Repeat("x", i)
	}
	inEachEra(t, func(t *testing.T, how era) {
		s, _, _ := working(t, files)
		c := dial(t, s, how)
		for range 3 {
			c.call("run_wait", of(c.begin(work{})))
		}
		list := func(c *client) (all []struct {
			URI, Name, Title, MIMEType string
			Size                       int64
		}) {
			var r struct {
				Resources json.RawMessage
				Templates []struct{ URITemplate string } `json:"resourceTemplates"`
			}
			m := c.do("resources/list", nil)
			if err := json.Unmarshal(m.Result, &r); err != nil || json.Unmarshal(r.Resources, &all) != nil {
				t.Fatalf("%v %s", err, m.Result)
			}
			return all
		}
		all := list(c)
		if len(all) != 50 || fmt.Sprint(list(c)) != fmt.Sprint(all) {
			t.Fatalf("%d resources, or they change", len(all))
		}
		for _, r := range all {
			if text, _ := c.text(r.URI); text != files[r.Name] || r.Size != int64(len(text)) || r.MIMEType != "text/markdown" {
				t.Errorf("%+v is %q", r, text)
			}
		}
		if theirs := list(dialAs(t, s, how, as{principal: "stranger"})); len(theirs) != 0 {
			t.Errorf("a stranger sees %v", theirs)
		}
		m := c.do("resources/templates/list", nil)
		for _, template := range []string{"run://{run_id}", "run://{run_id}/events{?after}", "run://{run_id}/artifacts/{+name}{?offset,limit}"} {
			if !strings.Contains(string(m.Result), `"`+template+`"`) {
				t.Errorf("%s is not among the templates: %s", template, m.Result)
			}
		}
	})
}

// heldFile counts who has it open, and may have become shorter than it was.
type heldFile struct {
	io.ReadSeeker
	held *atomic.Int64
	cut  bool
}

func (f heldFile) Close() error { f.held.Add(-1); return nil }

func (f heldFile) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekEnd && f.cut {
		return 100, nil
	}
	return f.ReadSeeker.Seek(offset, whence)
}

// What is opened is closed, a file that was cut meanwhile has what it has, and one that is gone says why.
func TestArtifactsThatChange(t *testing.T) {
	var held atomic.Int64
	open := func(_ context.Context, _ messages.State, a messages.Artifact) (io.ReadSeekCloser, error) {
		if a.Name == "gone.txt" {
			return nil, messages.Errorf(messages.CodeNotFound, "the cat has it")
		}
		held.Add(1)
		return heldFile{strings.NewReader("abc"), &held, a.Name == "cut.txt"}, nil
	}
	script := faultplan.Script{}
	for _, name := range []string{"a.txt", "cut.txt", "gone.txt"} {
		script.Write = append(script.Write, faultplan.Step{Do: faultplan.Emit, Body: messages.ArtifactWritten{
			Artifact: messages.Artifact{Name: name, Bytes: 3, SHA256: messages.Digest("abc")}}})
	}
	s, _ := doorTo(t, mcp.Config{Open: open}, []actors.Definition{scripted(script)}, mcp.JobTool{Job: "script"})
	inEachEra(t, func(t *testing.T, how era) {
		c := dial(t, s, how)
		id := c.call("script", nil).Structured.RunID
		for query, want := range map[string]string{"a.txt": "abc", "cut.txt": "abc", "a.txt?offset=1": "bc",
			"cut.txt?offset=1&limit=50": "bc", "cut.txt?offset=50": ""} {
			name, rest, _ := strings.Cut(query, "?")
			if got, _ := c.text(mcp.ArtifactURI(id, name) + "?" + rest); got != want {
				t.Errorf("%s is %q", query, got)
			}
		}
		c.missing(mcp.ArtifactURI(id, "gone.txt"))
		m := c.do("resources/read", map[string]any{"uri": mcp.ArtifactURI(id, "gone.txt")})
		if m.Error == nil || !strings.Contains(m.Error.Message, "the cat has it") {
			t.Errorf("what is gone: %+v", m.Error)
		}
		if n := held.Load(); n != 0 {
			t.Errorf("%d files are open", n)
		}
	})
}

func TestPrompts(t *testing.T) {
	inEachEra(t, func(t *testing.T, how era) {
		s, _, _ := working(t, nil)
		c := dial(t, s, how)
		m := c.do("prompts/get", map[string]any{"name": "explain_run", "arguments": map[string]string{"run_id": "r_abc"}})
		if m.Error != nil || strings.Count(string(m.Result), "r_abc") < 3 {
			t.Errorf("%+v %s", m.Error, m.Result)
		}
		if m = c.do("prompts/get", map[string]any{"name": "explain_run"}); m.Error == nil || m.Error.Code != -32602 ||
			!strings.Contains(m.Error.Message, "run_id") {
			t.Errorf("without its argument: %+v %s", m.Error, m.Result)
		}
		s.AddPrompt(mcp.Prompt{Name: "tea", Arguments: []mcp.Argument{{Name: "sort", Required: true}, {Name: "milk"}},
			Text: func(a map[string]string) string { return a["sort"] + " tea" + a["milk"] }})
		m = c.do("prompts/get", map[string]any{"name": "tea", "arguments": map[string]string{"sort": "green"}})
		if m.Error != nil || !strings.Contains(string(m.Result), `"green tea"`) {
			t.Errorf("without what it can do without: %+v %s", m.Error, m.Result)
		}
		m = c.do("prompts/get", map[string]any{"name": "tea", "arguments": map[string]string{"sort": " "}})
		if m.Error == nil || !strings.Contains(m.Error.Message, "sort") {
			t.Errorf("with a blank: %+v %s", m.Error, m.Result)
		}
	})
}

// Resources are read a few at a time, and what they hold is bounded until their clients have it. Short ones always
// pass.
func TestReadingIsBounded(t *testing.T) {
	s, _ := doorTo(t, mcp.Config{}, nil)
	entered, release := make(chan *wire.Exchange, 64), make(chan struct{})
	var inside atomic.Int32
	texts := func(read func(ctx context.Context) string) func(context.Context, string) (mcp.Contents, error) {
		return func(ctx context.Context, _ string) (mcp.Contents, error) { return mcp.Contents{Text: read(ctx)}, nil }
	}
	for scheme, read := range map[string]func(ctx context.Context) string{
		"slow": func(ctx context.Context) string {
			if n := inside.Add(1); n > 16 {
				t.Errorf("%d are read at a time", n)
			}
			defer inside.Add(-1)
			entered <- wire.From(ctx)
			<-release
			return "slow"
		},
		"short": func(context.Context) string { return "short" },
		"long":  func(context.Context) string { return strings.Repeat("x", 100<<10) },
	} {
		must(t, s.AddResource(mcp.Resource{Template: scheme + "://{x}", Name: scheme}, texts(read)))
	}
	c := dial(t, s, modernHTTP)
	ask := func(uri string) *exchange { return c.start("resources/read", map[string]any{"uri": uri}) }
	var slow []*exchange
	for range 15 {
		slow = append(slow, ask("slow://x"))
	}
	var last *wire.Exchange
	for range 15 {
		last = <-entered
	}
	if !last.Hold(256<<20 - 1<<10) {
		t.Fatal("there is no room")
	}
	if m := ask("long://x").response(); m.Error == nil || !strings.Contains(m.Error.Message, "try again") ||
		!strings.Contains(string(m.Error.Data), "limit_exceeded") {
		t.Errorf("%+v", m)
	}
	if m := ask("short://x").response(); m.Error != nil {
		t.Errorf("%+v", m.Error)
	}
	for range 40 {
		slow = append(slow, ask("slow://x"))
	}
	for range 40 { // which are no resources: time for too many to be read
		c.do("tools/list", nil)
	}
	close(release)
	for _, x := range slow {
		if m := x.response(); m.Error != nil {
			t.Errorf("%+v", m.Error)
		}
	}
	for ask("long://x").response().Error != nil { // until the room is known to be free
	}
}

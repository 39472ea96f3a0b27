package door_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/jsonrpc"
	"github.com/seed889630bf/lastword/internal/stories"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/transcript"
	"github.com/seed889630bf/lastword/transport/internal/rpc"
)

// words is a dialect of lines: each operation, and END.
var words = transcript.Dialect[*speaker]{
	Heartbeat: func(w *speaker) { fmt.Fprintln(w, "beat") },
	Refuse:    func(w *speaker, err error) { fmt.Fprintln(w, "refused:", err) },
}

type speaker struct {
	door.SegmentWriter
	io.Writer
}

func speak(id messages.RunID, w io.Writer) *speaker {
	return &speaker{SegmentWriter: door.SegmentWriter{Run: id}, Writer: w}
}

func init() {
	words.Table[transcript.Text][transcript.Append] = func(w *speaker, op *transcript.Op) { fmt.Fprintf(w, "%q\n", op.Text) }
	words.Table[transcript.Run][transcript.End] = func(w *speaker, op *transcript.Op) { fmt.Fprintln(w, "END", op.Event.Kind()) }
}

func open(t *testing.T, runs door.Runs, c door.Config) *httptest.Server {
	c.Runs, c.Jobs = runs, []messages.JobInfo{{Name: "prompt"}}
	d, mux := door.New(c), http.NewServeMux()
	start := func(r *http.Request) (messages.RunID, error) {
		return d.Start(r.Context(), messages.Request{Job: "prompt",
			Input: json.RawMessage(fmt.Sprintf(`{"prompt":%q}`, r.URL.Query().Get("story")))})
	}
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		id, err := start(r)
		if err != nil {
			auth.Refuse(w, err)
			return
		}
		s := d.Stream(w, "text/plain")
		if door.Play(r.Context(), d, s, messages.FollowOptions{}, &words, speak(id, s)) != nil {
			s.Break()
		}
	})
	mux.HandleFunc("/socket", func(w http.ResponseWriter, r *http.Request) {
		if err := d.Socket(w, r, func(s *door.Socket) func([]byte) {
			return func(message []byte) {
				id, err := start(r)
				f := s.Frames()
				if err != nil || string(message) != "go" ||
					door.Play(s.Context, d, f, messages.FollowOptions{}, &words, speak(id, lines{f})) != nil {
					s.Break()
				}
			}
		}); err != nil {
			auth.Refuse(w, err)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

type lines struct{ *door.Frames }

func (l lines) Write(line []byte) (int, error) {
	l.Add(append([]byte(nil), line...))
	return len(line), nil
}

var errGone = errors.New("the journal is gone")

const whole = "\"Hel\"\n\"lo, \"\n\"wörld 🌍\"\nEND run.completed\n"

func TestStreamEndsWithTheTerminalOrBreaks(t *testing.T) {
	get := func(runs door.Runs) (string, error) {
		resp, err := http.Get(open(t, runs, door.Config{}).URL + "/stream?story=plain")
		must(t, err)
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return string(body), err
	}
	if body, err := get(&stories.Teller{}); err != nil || body != whole {
		t.Errorf("the stream is %q, %v", body, err)
	}
	if body, err := get(&stories.CutTeller{After: 5, Err: errGone}); err == nil || !strings.HasSuffix(body, "refused: the journal is gone\n") {
		t.Errorf("the broken stream is %q, %v", body, err)
	}
}

func TestSocketEndsWithTheTerminalOrBreaks(t *testing.T) {
	const cut = "\"Hel\"\nrefused: the journal is gone\n"
	for want, runs := range map[string]door.Runs{whole: &stories.Teller{}, cut: &stories.CutTeller{After: 5, Err: errGone}} {
		url := strings.Replace(open(t, runs, door.Config{}).URL, "http", "ws", 1)
		ws, _, err := websocket.Dial(t.Context(), url+"/socket?story=plain", nil)
		must(t, err)
		must(t, ws.Write(t.Context(), websocket.MessageText, []byte("go")))
		got := ""
		for len(got) < len(want) {
			_, message, err := ws.Read(t.Context())
			if err != nil {
				t.Fatalf("after %q: %v", got, err)
			}
			got += string(message)
		}
		if got != want {
			t.Errorf("the socket said %q, want %q", got, want)
		}
		if want != whole {
			if _, _, err := ws.Read(t.Context()); websocket.CloseStatus(err) != -1 {
				t.Errorf("the broken socket says farewell: %v", err)
			}
		}
		_ = ws.CloseNow()
	}
}

// plays plays a story to a client that reads r, as slowly as it likes. done gets what Play returns; closing w ends r.
func plays(t *testing.T, story string) (runs *stories.Teller, id messages.RunID, r io.Reader, w io.Closer, done <-chan error) {
	t.Helper()
	runs = &stories.Teller{}
	id, err := runs.Submit(t.Context(), messages.Request{Job: "prompt", Input: json.RawMessage(`{"story":"` + story + `"}`)})
	must(t, err)
	from, to := io.Pipe()
	d := door.New(door.Config{Runs: runs})
	s, played := d.Stream(pipe{to, http.Header{}}, "text/plain"), make(chan error, 1)
	go func() { played <- door.Play(t.Context(), d, s, messages.FollowOptions{}, &words, speak(id, s)) }()
	return runs, id, from, to, played
}

// A run that waits for people is silent; the client still hears that the connection lives.
func TestHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs, id, r, _, done := plays(t, "question")
		scan, begun := bufio.NewScanner(r), time.Now()
		for _, want := range []string{`"Let me ask."`, "beat", "beat"} {
			if !scan.Scan() || scan.Text() != want {
				t.Fatalf("%q, want %q", scan.Text(), want)
			}
		}
		if waited := time.Since(begun); waited != 30*time.Second {
			t.Errorf("two heartbeats took %v", waited)
		}
		must(t, runs.Answer(t.Context(), id, "q1", json.RawMessage(`"main"`), ""))
		for _, want := range []string{`"Took main."`, "END run.completed"} {
			if !scan.Scan() || scan.Text() != want {
				t.Fatalf("%q, want %q", scan.Text(), want)
			}
		}
		must(t, <-done)
	})
}

// The client reads so slowly that a heartbeat is due before it has the terminal: none comes after that.
func TestNoHeartbeatAfterTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, r, w, done := plays(t, "plain")
		const end = "END run.completed\n"
		begin := make([]byte, len(whole)-len(end))
		_, err := io.ReadFull(r, begin)
		must(t, err)
		time.Sleep(15 * time.Second) // the beat waits for the lock, which the write of the terminal has
		var rest strings.Builder
		go func() { _, _ = io.Copy(&rest, r) }()
		must(t, <-done)
		synctest.Wait()
		if rest.String() != end {
			t.Errorf("the client reads %q, want %q", rest.String(), end)
		}
		w.Close()
	})
}

// pipe is an http.ResponseWriter without a connection.
type pipe struct {
	io.Writer
	header http.Header
}

func (p pipe) Header() http.Header { return p.header }
func (p pipe) WriteHeader(int)     {}
func (p pipe) FlushError() error   { return nil }

// A caller that may not write is told so, whatever job it names.
func TestWritersAlone(t *testing.T) {
	d := door.New(door.Config{Runs: &stories.Teller{}, Jobs: []messages.JobInfo{{Name: "chat", JobSpec: messages.JobSpec{PromptField: "message"}}}})
	ctx := auth.With(t.Context(), auth.Principal{Name: "reader", Scopes: []auth.Scope{auth.ReadRuns}})
	for _, job := range []string{"chat", "unknown"} {
		_, started := d.Start(ctx, messages.Request{Job: job})
		_, said := d.StartTurn(ctx, job, door.Turn{Text: "plain"}, nil, "")
		for what, err := range map[string]error{"Start": started, "StartTurn": said, "Cancel": d.Cancel(ctx, "r_none", "")} {
			if messages.CodeOf(err) != auth.CodeForbidden {
				t.Errorf("%s of %s: %v", what, job, err)
			}
		}
	}
}

// A reader that takes every line break of Unicode for the end of a line gets each event as one line.
func TestLinesOfUnicode(t *testing.T) {
	const said = "a\u2028b\u2029c\u0085d\v\f\x1c"
	d, w := door.New(door.Config{Redact: bytes.ToLower}), httptest.NewRecorder()
	s := d.Stream(w, "text/event-stream")
	s.Event("7", "text", said)
	must(t, s.Flush())
	const want = "id: 7\nevent: text\ndata: \"a\\u2028b\\u2029c\\u0085d\\u000b\\f\\u001c\"\n\n"
	if got := w.Body.String(); got != want {
		t.Errorf("%q", got)
	}
	if got := string(d.Redact([]byte(`{"TEXT":"` + "\u0085" + `"}`))); got != `{"text":"\u0085"}` {
		t.Errorf("%q", got)
	}
}

// A path answers OPTIONS with its methods, and what it does not take in the protocol's form.
func TestRoutes(t *testing.T) {
	h := door.Routes(map[string]func(http.ResponseWriter, *http.Request) error{
		"GET /a":      func(http.ResponseWriter, *http.Request) error { return nil },
		"POST /a":     func(http.ResponseWriter, *http.Request) error { return errGone },
		"POST /a/{b}": func(http.ResponseWriter, *http.Request) error { return nil },
	}, func(w http.ResponseWriter, err error) { http.Error(w, string(messages.CodeOf(err)), http.StatusGone) })
	for request, want := range map[string]string{"GET /a": "200  ", "POST /a": "410  ", "POST /a/x": "200  ",
		"PUT /a": "410 GET, HEAD, POST method_not_allowed", "OPTIONS /a": "204 GET, HEAD, POST, OPTIONS ", "GET /b": "410  not_found",
		"POST /a/../a": "410  not_found"} {
		method, path, _ := strings.Cut(request, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if got := fmt.Sprintf("%d %s %s", w.Code, w.Header().Get("Allow"), strings.TrimSpace(w.Body.String())); got != want {
			t.Errorf("%s: %q, want %q", request, got, want)
		}
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/a/x", nil)
	r.Header.Set("Upgrade", "websocket")
	door.Routes(map[string]func(http.ResponseWriter, *http.Request) error{"POST /a/{b}": nil}, auth.Refuse).ServeHTTP(w, r)
	if w.Code != http.StatusUpgradeRequired || w.Header().Get("Upgrade") == "" {
		t.Errorf("a WebSocket where there is none gets %d, %v", w.Code, w.Header())
	}
}

// What is not UTF-8 is refused: encoding/json would replace it.
func TestTextsAreUTF8(t *testing.T) {
	for text, want := range map[string]int{`{"a":"é"}`: -1, "{\"a\":\"\xed\xa0\x80\"}": 1007, "\xc0\x80": 1007} {
		var into struct{ A string }
		err := door.ReadJSON(httptest.NewRequest(http.MethodPost, "/", strings.NewReader(text)), &into)
		if refused := want > 0; refused != (messages.CodeOf(err) == auth.CodeBadRequest) {
			t.Errorf("the body %q: %v", text, err)
		}
		ws, _, err := websocket.Dial(t.Context(), strings.Replace(open(t, &stories.Teller{}, door.Config{}).URL, "http", "ws", 1)+"/socket?story=plain", nil)
		must(t, err)
		must(t, ws.Write(t.Context(), websocket.MessageText, []byte(text)))
		for err == nil && want > 0 {
			_, _, err = ws.Read(t.Context())
		}
		if got := websocket.CloseStatus(err); got != websocket.StatusCode(want) {
			t.Errorf("the message %q: %v", text, err)
		}
		_ = ws.CloseNow()
	}
}

// said is a runtime whose only run asks a confirmation, and that keeps what is said to the run.
type said struct {
	door.Runs
	all   []messages.Said
	start messages.Request
}

func (s *said) Submit(_ context.Context, q messages.Request) (messages.RunID, error) {
	if s.start = q; len(q.Input) > messages.MessageBytes {
		return "", messages.LimitExceeded("too long")
	}
	return "r_a", nil
}

func (s *said) State(context.Context, messages.RunID) (messages.State, error) {
	return messages.State{RunID: "r_a", Queued: &messages.RunQueued{Job: "j", Principal: "ann"},
		Inputs: []messages.Input{{Request: "q", Kind: messages.InputConfirmation}}}, nil
}

func (s *said) Send(_ context.Context, _ messages.RunID, one messages.Said) (messages.Message, error) {
	s.all = append(s.all, one)
	return messages.Message{Said: one}, nil
}

// What an agent says is marked so, and has no secrets; an interrupt takes the right to answer what is open.
func TestSay(t *testing.T) {
	runs := &said{}
	d := door.New(door.Config{Runs: runs, Jobs: []messages.JobInfo{{Name: "j", JobSpec: messages.JobSpec{PromptField: "text"}}},
		Redact: func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("hunter2"), []byte("…")) }})
	as := func(name string, scopes ...auth.Scope) context.Context {
		return auth.With(t.Context(), auth.Principal{Name: name, Scopes: scopes})
	}
	ann := as("ann", auth.ReadRuns, auth.WriteRuns)
	for _, c := range []struct {
		ctx  context.Context
		by   door.By
		mode messages.SayMode
		code messages.Code
		want messages.Said
	}{
		{ann, door.Client, "", "", messages.Said{Content: "hunter2", Principal: "ann", Door: "client"}},
		{ann, door.Agent, "", "", messages.Said{Content: "…", Principal: "ann", Door: "agent", Agent: true}},
		{ann, door.Agent, messages.Interrupt, auth.CodeForbidden, messages.Said{}},
		{ann, door.Client, messages.Interrupt, auth.CodeForbidden, messages.Said{}},
		{as("ann", auth.Admin), door.Client, messages.Interrupt, "", messages.Said{Content: "hunter2", Mode: messages.Interrupt, Principal: "ann", Door: "client"}},
		{as("bob", auth.Admin), door.Client, "", messages.CodeNotFound, messages.Said{}},
		{as("ann", auth.ReadRuns), door.Client, "", auth.CodeForbidden, messages.Said{}},
	} {
		runs.all = []messages.Said{{}}
		_, err := d.Say(c.ctx, c.by, "r_a", messages.Said{Mode: c.mode, Content: "hunter2"})
		if got := runs.all[len(runs.all)-1]; messages.CodeOf(err) != c.code || got != c.want {
			t.Errorf("%d %q: %+v, %v", c.by, c.mode, got, err)
		}
	}
	q := messages.Request{Job: "j", Busy: messages.BusySteer, Input: json.RawMessage(`{"text":"hunter2"}`)}
	for by, start := range map[string]func(context.Context, messages.Request) (messages.RunID, error){"client": d.Start, "agent": d.StartByModel} {
		_, err := start(ann, q)
		if got := runs.start; err != nil || got.Door != by || got.Agent != (by == "agent") || got.Agent == strings.Contains(string(got.Input), "hunter2") {
			t.Errorf("a start by %s that steers is %+v, %v", by, got, err)
		}
	}
	q.Input = door.JSON(map[string]string{"text": strings.Repeat("x", messages.MessageBytes+1)})
	if _, err := d.Start(ann, q); messages.CodeOf(err) != auth.CodeTooLarge {
		t.Errorf("a long start that steers: %v", err)
	}
}

// A message is answered call by call, and what is no call is refused. What the calls began comes after the answer.
func TestAnswer(t *testing.T) {
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"m"}`:     `{"jsonrpc":"2.0","id":1,"result":"m"} begins 1`,
		`[{"jsonrpc":"2.0","id":1,"method":"m"},7]`: `[{"jsonrpc":"2.0","id":null,-32600},{"jsonrpc":"2.0","id":1,"result":"m"}] begins 1`,
		`{"jsonrpc":"2.0","method":"m"}`:            ` begins 0`,
		`{"jsonrpc":"2.0","id":1,"method":"no"}`:    `{"jsonrpc":"2.0","id":1,-32602} begins 0`,
		`[]`:                                        `{"jsonrpc":"2.0","id":null,-32600} begins 0`,
		`{`:                                         `{"jsonrpc":"2.0","id":null,-32700} begins 0`,
		"\"\xff\"":                                  `{"jsonrpc":"2.0","id":null,-32700} begins 0`,
		`{"jsonrpc":"2.0","id":{},"method":"m"}`:    `{"jsonrpc":"2.0","id":null,-32600} begins 0`,
		`{"jsonrpc":"1.0","id":"a","method":"m"}`:   `{"jsonrpc":"2.0","id":"a",-32600} begins 0`,
	} {
		begun := 0
		rpc := &rpc.Server{Door: door.New(door.Config{}), Serve: func(_ *rpc.Caller, c jsonrpc.Call) (any, func(*rpc.Wire) error, error) {
			if c.Method == "no" {
				return nil, nil, messages.InvalidInput("no")
			}
			return c.Method, func(*rpc.Wire) error { begun++; return nil }, nil
		}}
		w := httptest.NewRecorder()
		must(t, rpc.Post(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))))
		answer := strings.TrimSpace(w.Body.String())
		short := regexp.MustCompile(`"error":{"code":(-\d+)[^}]*}*`).ReplaceAllString(answer, "$1}")
		if got := fmt.Sprintf("%s begins %d", short, begun); got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// A person answers in words what a question offers; what it does not offer goes to whoever asked.
func TestAnswersInWords(t *testing.T) {
	const approval = `{"type":"string","enum":["yes, once","yes, always","no"]}`
	if got := door.Prompt(messages.InputRequired{Prompt: "May it?", Schema: json.RawMessage(approval)}); got != "May it?\n\n- yes, once\n- yes, always\n- no" {
		t.Errorf("the question is %q", got)
	}
	for _, c := range []struct{ schema, text, want string }{
		{approval, "yes", `"yes, once"`}, {approval, "Yes, always.", `"yes, always"`}, {approval, "no!", `"no"`},
		{approval, "ye", `"ye"`}, {approval, "not now", `"not now"`}, {approval, "", `""`},
		{`{"type":"boolean"}`, "Yes", "true"}, {`{"type":"boolean"}`, "false", "false"},
		{`{"type":"boolean"}`, "maybe", `"maybe"`}, {`{"type":"string"}`, "7", `"7"`},
		{`{"type":"integer"}`, "7", "7"}, {`{"enum":[1,2]}`, "2", `"2"`}, {"", "main", `"main"`},
	} {
		runs := &answers{}
		run := messages.State{RunID: "r", Inputs: []messages.Input{{Request: "q", Schema: json.RawMessage(c.schema)}}}
		must(t, door.New(door.Config{Runs: runs}).AnswerText(t.Context(), door.Dialogue, run, "q", c.text))
		if string(runs.value) != c.want {
			t.Errorf("%q to %s says %s, want %s", c.text, c.schema, runs.value, c.want)
		}
	}
}

// answers notes what a run is answered.
type answers struct {
	stories.Teller
	value json.RawMessage
}

func (a *answers) State(context.Context, messages.RunID) (messages.State, error) {
	return messages.State{Queued: &messages.RunQueued{}}, nil
}

func (a *answers) Answer(_ context.Context, _ messages.RunID, _ string, value json.RawMessage, _ string) error {
	a.value = value
	return nil
}

// A buffer whose write failed is not written to again: over HTTP/2 the write may be under way still, to a client that
// must not see the next one's frames.
func TestFailedWritesKeepTheirText(t *testing.T) {
	d := door.New(door.Config{})
	var all []*deaf
	for i := range 64 {
		w := &deaf{ResponseWriter: httptest.NewRecorder()}
		s := d.Stream(w, "text/plain")
		_, _ = fmt.Fprintf(s, "secret %d", i)
		if s.Flush() == nil {
			t.Fatal("the write did not fail")
		}
		all = append(all, w)
	}
	for i, w := range all {
		if want := fmt.Sprint("secret ", i); string(w.given) != want {
			t.Errorf("%q became %q", want, w.given)
		}
	}
}

// deaf keeps what it is given and takes none of it.
type deaf struct {
	http.ResponseWriter
	given []byte
}

func (d *deaf) Write(text []byte) (int, error) {
	d.given = text
	return 0, errGone
}

var must = fatal.IfError

// A client that can only append is told answers whole, one after the other, and is told where one was taken back.
func TestSpeech(t *testing.T) {
	const a, b = `text.delta {"stream":"answer.1","task":"one","offset":%d,"text":%q}`, `text.delta {"stream":"answer.2","task":"two","offset":%d,"text":%q}`
	say := fmt.Sprintf
	for want, bodies := range map[string][]string{
		"ab|cd|\n\nxyz": { // both grow; the second waits for the end of the first
			say(a, 0, "ab"), say(b, 0, "x"), say(a, 2, "cd"), say(b, 1, "y"), `task.completed {"task":"one"}`, say(b, 2, "z")},
		"ab|\n\nx|y": { // nobody finishes the first, but its task says another text
			say(a, 0, "ab"), strings.Replace(say(b, 0, "x"), "two", "one", 1), strings.Replace(say(b, 1, "y"), "two", "one", 1)},
		"ab|c|d": { // an attempt says the same again
			say(a, 0, "ab"), say(a, 2, "c"), `task.restarted {"task":"one","attempt":2}`, say(a, 0, "a"), say(a, 1, "bcd")},
		"ab|ANEW ad": { // or something else
			say(a, 0, "ab"), `task.restarted {"task":"one","attempt":2}`, say(a, 0, "a"), say(a, 1, "d")},
		`["told"]`: {`text.delta {"stream":"notes","text":"no answer"}`, `run.completed {"result":["told"]}`},
	} {
		var speech door.Speech
		var said []string
		note := func(piece string, anew bool) {
			if anew {
				piece = "ANEW " + piece
			}
			if piece != "" {
				said = append(said, piece)
			}
		}
		take := func(_ struct{}, op *transcript.Op) {
			if op.Do == transcript.End {
				note(speech.Rest(op))
				return
			}
			note(speech.Take(op))
		}
		d := transcript.Dialect[struct{}]{Table: transcript.Each(take), Rewind: take}
		player := d.Player(struct{}{})
		for i, body := range append([]string{`run.queued {"job":"j"}`}, bodies...) {
			kind, payload, _ := strings.Cut(body, " ")
			var e messages.Event
			line := fmt.Sprintf(`{"run_id":"r","seq":%d,"ts":"2026-11-20T20:00:00Z","type":%q,"payload":%s}`, i+1, kind, payload)
			must(t, json.Unmarshal([]byte(line), &e))
			player.Play(e)
		}
		if got := strings.Join(said, "|"); got != want {
			t.Errorf("said %q, want %q", got, want)
		}
	}
}

// Every protocol's input is fitted to the schema of its job, and models fill only what the job shows them.
func TestInputIsFitted(t *testing.T) {
	const shared = `"format":{"type":"integer","maximum":2},"graph":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}}`
	const object, end = `{"type":"object","additionalProperties":false,"properties":{`, `}}`
	schema := func(text string) messages.JSONSchema { return func() json.RawMessage { return json.RawMessage(text) } }
	runs := &submitted{}
	d := door.New(door.Config{Runs: runs, Jobs: []messages.JobInfo{
		{Name: "typed", JobSpec: messages.JobSpec{Input: schema(object + shared + `,"secret":{"type":"string"}` + end), ModelInput: schema(object + shared + end)}},
		{Name: "open"}, {Name: "broken", JobSpec: messages.JobSpec{Input: schema(`{"type":7}`)}},
	}})
	for _, c := range []struct{ job, given, program, model string }{
		{"typed", `{"format":2.0,"graph":null}`, `{"format":2}`, `{"format":2}`},
		{"typed", `{"tags":"[\"a\"]"}`, `{"tags":["a"]}`, `{"tags":["a"]}`},
		{"typed", `{ "format": 2 }`, `{ "format": 2 }`, `{ "format": 2 }`},
		{"typed", `"{\"format\":1}"`, `{"format":1}`, `{"format":1}`},
		{"typed", ``, `{}`, `{}`},
		{"typed", ` null`, `{}`, `{}`},
		{"typed", `{"secret":"s"}`, `{"secret":"s"}`, `wrong arguments: secret: there is no field secret here; there are format, graph, tags`},
		{"typed", `{"format":3}`, `{"format":3}`, `wrong arguments: format: 3 is too much; write 2 or less`},
		{"typed", `"words"`, `"words"`, `wrong arguments: this is a text; write an object, with a field on each line`},
		{"open", `{"any":5.0}`, `{"any":5.0}`, `{"any":5.0}`},
		{"broken", `{"any":5.0}`, `{"any":5.0}`, ``},
	} {
		for want, start := range map[*string]func(context.Context, messages.Request) (messages.RunID, error){&c.program: d.Start, &c.model: d.StartByModel} {
			_, err := start(t.Context(), messages.Request{Job: c.job, Input: json.RawMessage(c.given)})
			got := string(runs.input)
			if err != nil {
				got = err.Error()
			}
			if got != *want && *want != "" || *want == "" && err == nil {
				t.Errorf("%s of %s: %s, want %s", c.given, c.job, got, *want)
			}
		}
	}
}

// submitted is a runtime that keeps the input of the last start.
type submitted struct {
	door.Runs
	input json.RawMessage
}

func (s *submitted) Submit(_ context.Context, q messages.Request) (messages.RunID, error) {
	s.input = q.Input
	return "r", nil
}

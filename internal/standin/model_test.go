package standin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/internal/standin"
)

// caller is a plain client with connections of its own.
func caller(t testing.TB) *http.Client {
	tr := &http.Transport{MaxIdleConnsPerHost: 300, DisableCompression: true}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

const question = `{"model":"m","stream":true,"messages":[{"role":"user","content":"one two three"}]}`

func ask(ctx context.Context, c *http.Client, m *standin.Model, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return c.Do(r)
}

// whole asks and reads to the end; the error is the call's or the body's.
func whole(t testing.TB, c *http.Client, m *standin.Model, body string) (*http.Response, string, error) {
	res, err := ask(t.Context(), c, m, body)
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	return res, string(text), err
}

// text is the content in a stream's chunks, as a client without leniency reads it.
func text(stream string) string {
	var out strings.Builder
	for line := range strings.Lines(stream) {
		var chunk struct {
			Choices []struct {
				Delta struct {
					Content string `json:"content"`
				} `json:"delta"`
			} `json:"choices"`
		}
		data, ok := strings.CutPrefix(line, "data: ")
		if ok && strings.HasSuffix(line, "\n") && json.Unmarshal([]byte(data), &chunk) == nil && len(chunk.Choices) > 0 {
			out.WriteString(chunk.Choices[0].Delta.Content)
		}
	}
	return out.String()
}

func TestModelFraming(t *testing.T) {
	m, c := standin.NewModel(t), caller(t)
	hello := standin.Send("hello")
	for _, row := range []struct {
		name   string
		pieces []standin.Piece
		length int64 // -1: not declared
		proto  string
		err    error // of the body
	}{
		{"chunked", []standin.Piece{hello}, -1, "HTTP/1.1", nil},
		{"chunked, cut", []standin.Piece{hello, standin.Cut()}, -1, "HTTP/1.1", io.ErrUnexpectedEOF},
		{"chunked, reset", []standin.Piece{hello, standin.Reset()}, -1, "HTTP/1.1", syscall.ECONNRESET},
		{"length", []standin.Piece{standin.Framed(standin.ContentLength), hello}, 5, "HTTP/1.1", nil},
		{"length, cut", []standin.Piece{standin.Length(9), hello, standin.Cut()}, 9, "HTTP/1.1", io.ErrUnexpectedEOF},
		{"length, reset", []standin.Piece{standin.Length(9), hello, standin.Reset()}, 9, "HTTP/1.1", syscall.ECONNRESET},
		{"close", []standin.Piece{standin.Framed(standin.CloseDelimited), hello}, -1, "HTTP/1.1", nil},
		{"close, reset", []standin.Piece{standin.Framed(standin.CloseDelimited), hello, standin.Reset()}, -1, "HTTP/1.1",
			syscall.ECONNRESET},
		{"1.0", []standin.Piece{standin.Framed(standin.HTTP10), hello}, -1, "HTTP/1.0", nil},
		{"status", []standin.Piece{standin.Status(200, "text/html", "hello")}, 5, "HTTP/1.1", nil},
	} {
		for _, split := range []int{0, 1, 3} {
			m.Answer(append([]standin.Piece{standin.Split(split)}, row.pieces...)...)
			res, body, err := whole(t, c, m, question)
			if body != "hello" || !errors.Is(err, row.err) || res.ContentLength != row.length || res.Proto != row.proto {
				t.Errorf("%s in writes of %d: %q, %v, %+v", row.name, split, body, err, res)
			}
		}
	}
	if m.Unasked() != 0 {
		t.Errorf("%d answers are left", m.Unasked())
	}
}

// TestModelWire reads what a client's library hides: the bytes.
func TestModelWire(t *testing.T) {
	m := standin.NewModel(t)
	m.Answer(standin.Header("X-A", "b"), standin.Split(2), standin.Send("hello"), standin.Wire("!"), standin.HangUp())
	conn, err := net.Dial("tcp", m.Host())
	fatal.IfError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s",
		len(question), question)
	fatal.IfError(t, err)
	got, err := io.ReadAll(conn)
	want := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nX-A: b\r\n\r\n" +
		"2\r\nhe\r\n2\r\nll\r\n1\r\no\r\n!0\r\n\r\n"
	if err != nil || string(got) != want {
		t.Errorf("the wire has %q, %v", got, err)
	}
}

// The server tells that the client has closed the connection, during the answer and after it.
func TestModelGone(t *testing.T) {
	m, c := standin.NewModel(t), caller(t)
	early := m.Step(standin.Text("a"), standin.Text("b"))
	go func() { _ = early.Next() }()
	ctx, cancel := context.WithCancel(t.Context())
	res, err := ask(ctx, c, m, question)
	fatal.IfError(t, err)
	select {
	case <-early.Gone():
		t.Fatal("gone before it left")
	default:
	}
	cancel()
	<-early.Gone()
	<-m.Closed(0)
	_ = res.Body.Close()
	if err := early.Next(); !errors.Is(err, standin.ErrClientGone) {
		t.Errorf("after the client has left: %v", err)
	}
	if early.Whole() {
		t.Error("the answer counts as whole")
	}
	late := m.Answer(standin.Text("a"), standin.Done())
	closed := m.Closed(1)
	_, _, err = whole(t, c, m, question)
	fatal.IfError(t, err)
	<-late.Ended()
	select {
	case <-closed:
		t.Fatal("a connection that is kept counts as closed")
	default:
	}
	c.CloseIdleConnections()
	<-closed
	if <-late.Gone(); !late.Whole() {
		t.Error("the answer does not count as whole")
	}
}

func TestModelRequests(t *testing.T) {
	const secret = "sk-secret"
	m, c := standin.NewModelWith(t, standin.ModelOptions{Key: secret}), caller(t)
	kept := m.Answer(standin.Text("yes"), standin.Done())
	for _, key := range []string{"", "sk-wrong", secret} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, m.URL()+"/chat/completions?a=b", strings.NewReader(
			`{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":7,"temperature":0,"ttl":300,
			"response_format":{"type":"text"},"tools":[{"type":"function"}],"tool_choice":"auto",
			"messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"u"}]},
			{"role":"tool","tool_call_id":"c1","content":"t"}]}`))
		fatal.IfError(t, err)
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		res, err := c.Do(r)
		fatal.IfError(t, err)
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		if want := map[bool]int{true: 200, false: 401}[key == secret]; res.StatusCode != want {
			t.Errorf("with the key %q: %d, want %d", key, res.StatusCode, want)
		}
	}
	list := m.Requests()
	if len(list) != 3 || list[0].Bearer || !list[1].Bearer || list[1].Authorized || !list[2].Authorized {
		t.Fatalf("the requests are %+v", list)
	}
	if s := fmt.Sprintf("%+v", list); strings.Contains(s, secret) || strings.Contains(s, "sk-wrong") {
		t.Error("a key is on record")
	}
	r := kept.Request()
	chat := r.Chat
	if r.Number != 2 || r.Query.Get("a") != "b" || m.Exchange(2) != kept || m.Exchange(3) != nil {
		t.Errorf("the request is %+v", r)
	}
	if chat.Model != "m" || !chat.Stream || !chat.StreamOptions.IncludeUsage || chat.MaxTokens != 7 || *chat.Temperature != 0 ||
		len(chat.Tools) != 1 || string(chat.ToolChoice) != `"auto"` || string(chat.ResponseFormat) != `{"type":"text"}` {
		t.Errorf("the body is %+v", chat)
	}
	if len(chat.Messages) != 3 || chat.Messages[1].Content != "u" || chat.Messages[2].CallID != "c1" {
		t.Errorf("the messages are %+v", chat.Messages)
	}
}

// Close ends what hangs, paces and waits for the test.
func TestModelClose(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	m, err := standin.ListenModel(standin.ModelOptions{})
	fatal.IfError(t, err)
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	c := &http.Client{Transport: tr}
	scripts := []*standin.Exchange{
		m.Answer(standin.Head(), standin.Stall()), m.Answer(standin.Head(), standin.Comments(time.Hour)),
		m.Answer(standin.Head(), standin.Until(make(chan struct{}))), m.Answer(standin.Head(), standin.Tokens(5, time.Hour)),
		m.Step(standin.Head()),
	}
	var group sync.WaitGroup
	for range scripts {
		group.Go(func() {
			if _, body, err := whole(t, c, m, question); err == nil || body != "" {
				t.Errorf("%q, %v", body, err)
			}
		})
	}
	for _, x := range scripts {
		<-x.Started()
	}
	m.Close()
	group.Wait()
	for _, x := range scripts {
		if x.Whole() {
			t.Error("an answer that was cut counts as whole")
		}
	}
}

func TestModelTicks(t *testing.T) {
	m, c := standin.NewModel(t), caller(t)
	before := time.Now().UnixNano()
	m.Answer(standin.Ticks(3, time.Millisecond), standin.Done())
	_, body, err := whole(t, c, m, question)
	after := time.Now().UnixNano()
	var at [3]int64
	if n, scanned := fmt.Sscan(text(body), &at[0], &at[1], &at[2]); n != 3 || err != nil {
		t.Fatal(body, scanned, err)
	}
	if at[0] < before || at[1] < at[0] || at[2] < at[1] || after < at[2] {
		t.Errorf("written at %v, between %d and %d", at, before, after)
	}
}

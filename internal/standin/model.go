package standin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// ModelOptions say which server a [Model] imitates. The zero value is an OpenAI-compatible server that accepts any
// key and any model.
type ModelOptions struct {
	Dialect Dialect
	// Key is the bearer token that every request must carry; "" accepts any.
	Key string
	// Models are the server's models. If empty, the server has the loaded model "scripted" with a context of 8,192
	// tokens, which also answers to any other name.
	Models []ServedModel
	// JIT makes LM Studio load a model on its first request; without it another loaded model answers, or none. Ollama
	// always loads.
	JIT bool
	// Loading delays every load of a model until it is closed; nil does not delay.
	Loading <-chan struct{}
}

// Model is a scripted server of language models on a real socket of the loopback interface. It speaks HTTP/1.1
// itself, so that the script controls every byte, every write and every end of a connection. Its methods are safe for
// concurrent use.
//
// A request takes the first answer that is scripted for its path. Without one, the endpoints of the [Dialect] work
// like the real ones: they list, load and unload. A completion then gets the [Model.Always] answer, or else an echo
// of the last message, one chunk per word, unless the model is missing, not loaded or too small for the prompt. The
// server refuses a request without the right key before all else.
type Model struct {
	options  ModelOptions
	listener net.Listener
	closing  context.Context
	close    context.CancelFunc
	group    sync.WaitGroup

	mu        sync.Mutex
	anyName   bool
	served    []ServedModel
	always    []Piece
	scripts   map[string][]*Exchange
	exchanges []*Exchange
	asked     map[int]chan struct{} // by number of request, for Asked and Closed
	gone      map[int]chan struct{}
	conns     map[*modelConn]bool
	accepted  int
}

// NewModel starts a plain Model that ends with the test.
func NewModel(t testing.TB) *Model { return NewModelWith(t, ModelOptions{}) }

// NewModelWith starts a Model that ends with the test.
func NewModelWith(t testing.TB, o ModelOptions) *Model {
	t.Helper()
	m, err := ListenModel(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	return m
}

// ListenModel starts a Model outside a test. Close ends it.
func ListenModel(o ModelOptions) (*Model, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	m := &Model{options: o, listener: l, served: o.serve(), anyName: len(o.Models) == 0,
		scripts: map[string][]*Exchange{}, asked: map[int]chan struct{}{}, gone: map[int]chan struct{}{},
		conns: map[*modelConn]bool{}}
	m.closing, m.close = context.WithCancel(context.Background())
	m.group.Go(m.accept)
	return m, nil
}

// Close ends every connection and returns when every goroutine of the server has ended.
func (m *Model) Close() {
	m.close()
	_ = m.listener.Close()
	m.mu.Lock()
	for c := range m.conns {
		_ = c.conn.Close()
	}
	m.mu.Unlock()
	m.group.Wait()
}

// Host is the server's address, "127.0.0.1:port".
func (m *Model) Host() string { return m.listener.Addr().String() }

// URL is the base of the OpenAI-compatible endpoints, "http://127.0.0.1:port/v1".
func (m *Model) URL() string { return "http://" + m.Host() + "/v1" }

const chatPath = "/v1/chat/completions"

// Answer scripts the answer to the next completion that has no script yet. The server sends it as fast as the client
// reads, and ends it after the last piece with its framing.
func (m *Model) Answer(pieces ...Piece) *Exchange { return m.AnswerTo(chatPath, pieces...) }

// AnswerTo is Answer for any path, such as "/v1/models".
func (m *Model) AnswerTo(path string, pieces ...Piece) *Exchange {
	return m.script(path, newExchange(pieces, false))
}

// Step is Answer for a server that waits for orders of the test: [Exchange.Next] and
// [Exchange.Rest].
func (m *Model) Step(pieces ...Piece) *Exchange { return m.script(chatPath, newExchange(pieces, true)) }

func (m *Model) script(path string, x *Exchange) *Exchange {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.scripts[path] = append(m.scripts[path], x)
	return x
}

// Always answers every completion that has no scripted answer. Without pieces it restores the echo.
func (m *Model) Always(pieces ...Piece) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.always = slices.Clone(pieces)
}

// Unasked counts the scripted answers that no request has taken.
func (m *Model) Unasked() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for _, queue := range m.scripts {
		n += len(queue)
	}
	return n
}

// Requests returns the requests so far, in order.
func (m *Model) Requests() []ModelRequest {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []ModelRequest
	for _, x := range m.exchanges {
		out = append(out, x.request)
	}
	return out
}

// Exchange returns the request with the given number, from 0, and its answer, scripted or not; nil if it has not
// arrived.
func (m *Model) Exchange(number int) *Exchange {
	m.mu.Lock()
	defer m.mu.Unlock()
	if number >= len(m.exchanges) {
		return nil
	}
	return m.exchanges[number]
}

// Asked returns a channel that is closed when the whole request with the given number, from 0, has arrived.
func (m *Model) Asked(number int) <-chan struct{} { return m.signal(m.asked, number) }

// Closed returns a channel that is closed when the server sees that the client has closed the connection of the
// request with the given number, from 0. The request need not have arrived yet.
func (m *Model) Closed(number int) <-chan struct{} { return m.signal(m.gone, number) }

func (m *Model) signal(of map[int]chan struct{}, number int) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return signal(of, number)
}

func signal(of map[int]chan struct{}, number int) chan struct{} {
	if of[number] == nil {
		of[number] = make(chan struct{})
	}
	return of[number]
}

// Open counts the connections that neither side has closed.
func (m *Model) Open() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.conns)
}

// Accepted counts the connections that clients have made.
func (m *Model) Accepted() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.accepted
}

func (m *Model) accept() {
	for {
		conn, err := m.listener.Accept()
		if err != nil {
			return
		}
		m.serveConn(conn)
	}
}

// serveConn serves a new connection in its own goroutine.
func (m *Model) serveConn(conn net.Conn) {
	tcp, ok := conn.(*net.TCPConn)
	m.mu.Lock()
	defer m.mu.Unlock()
	if !ok || m.closing.Err() != nil {
		_ = conn.Close()
		return
	}
	c := &modelConn{model: m, conn: tcp, number: m.accepted, dead: make(chan struct{})}
	m.accepted++
	m.conns[c] = true
	m.group.Go(c.serve)
}

// take finds the answer to a request, and numbers the request.
func (m *Model) take(c *modelConn, r ModelRequest) *Exchange {
	m.mu.Lock()
	defer m.mu.Unlock()
	x := m.scripted(r)
	r.Number, r.Conn = len(m.exchanges), c.number
	if x == nil {
		x = newExchange(m.unscripted(r), false)
	}
	x.request = r
	m.exchanges = append(m.exchanges, x)
	close(x.started)
	close(signal(m.asked, r.Number))
	c.exchanges = append(c.exchanges, x)
	if c.lost {
		m.tell(c)
	}
	return x
}

// scripted takes the next answer of the path's script, or returns nil. The caller holds the model's lock.
func (m *Model) scripted(r ModelRequest) *Exchange {
	queue := m.scripts[r.Path]
	if len(queue) == 0 || !r.Authorized {
		return nil
	}
	m.scripts[r.Path] = queue[1:]
	return queue[0]
}

// lost tells the exchanges of a connection that the client has closed it.
func (m *Model) lost(c *modelConn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.lost = true
	m.tell(c)
}

func (m *Model) tell(c *modelConn) {
	for _, x := range c.exchanges {
		close(x.gone)
		close(signal(m.gone, x.request.Number))
	}
	c.exchanges = nil
}

var errModelClosed = errors.New("the scripted model is closed")

// ModelRequest is a request as a [Model] read it.
type ModelRequest struct {
	Number       int // in the order of arrival, from 0
	Conn         int // the connection, in the order of arrival, from 0
	Method, Path string
	Query        url.Values
	// Header lacks Authorization: the Model keeps no key.
	Header http.Header
	// Bearer says that the request had a bearer token, Authorized that it is the right one, or that none is needed.
	Bearer, Authorized bool
	Body               []byte
	// Chat is the body of a request for a completion; the zero value for other requests.
	Chat ChatRequest

	close bool // the client asks to close the connection
}

// ChatRequest is the body of a request for a completion. A field of an unexpected type stays empty.
type ChatRequest struct {
	Model         string        `json:"model"`
	Messages      []ChatMessage `json:"messages"`
	Stream        bool          `json:"stream"`
	StreamOptions struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	MaxTokens           int               `json:"max_tokens"` // or MaxCompletionTokens, if there are any
	MaxCompletionTokens int               `json:"max_completion_tokens"`
	Temperature         *float64          `json:"temperature"`
	ResponseFormat      json.RawMessage   `json:"response_format"`
	Tools               []json.RawMessage `json:"tools"`
	ToolChoice          json.RawMessage   `json:"tool_choice"`
}

// ChatMessage is one message of a ChatRequest.
type ChatMessage struct {
	Role    string            `json:"role"`
	Content string            `json:"content"` // the texts of its parts, if it has parts
	CallID  string            `json:"tool_call_id"`
	Calls   []json.RawMessage `json:"tool_calls"`
}

// UnmarshalJSON understands content as a text or as a list of parts. It reads what it can.
func (m *ChatMessage) UnmarshalJSON(raw []byte) error {
	type plain ChatMessage
	var parted struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	_, _ = json.Unmarshal(raw, (*plain)(m)), json.Unmarshal(raw, &parted) // one of them has no content
	for _, part := range parted.Content {
		m.Content += part.Text
	}
	return nil
}

const maxRequestBody = 64 << 20

// decode reads a request. The key is compared and then removed, so that no test prints it.
func (m *Model) decode(r *http.Request) (ModelRequest, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequestBody))
	if err != nil {
		return ModelRequest{}, err
	}
	token, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	out := ModelRequest{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Header: r.Header.Clone(), Body: body,
		Bearer: bearer, Authorized: m.options.Key == "" || token == m.options.Key, close: r.Close}
	out.Header.Del("Authorization")
	if r.URL.Path == chatPath {
		_ = json.Unmarshal(body, &out.Chat)
		out.Chat.MaxTokens = cmp.Or(out.Chat.MaxCompletionTokens, out.Chat.MaxTokens)
	}
	return out, nil
}

// tokens is the length of the prompt: a token is four bytes of its text.
func (c ChatRequest) tokens() int {
	n := 0
	for _, m := range c.Messages {
		n += len(m.Content)
	}
	return (n + 3) / 4
}

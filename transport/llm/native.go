package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

const (
	listBytes = 16 << 20         // of a list of models
	listTime  = 10 * time.Second // timeout of a request for a list
)

// root returns the base URL without /v1. Native endpoints are below it.
func (c *Client) root() string {
	return strings.TrimSuffix(strings.TrimSuffix(c.base.String(), "/v1"), "/")
}

// get sends a GET to a native endpoint. Unless ctx has a deadline, it times out after 10 s.
func get[T any](ctx context.Context, c *Client, url string) (out T, err error) {
	if _, bounded := ctx.Deadline(); !bounded {
		late := unreachable("%s did not answer within %s", c.base.Host, listTime)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, listTime, late)
		defer cancel()
	}
	err = c.ask(ctx, http.MethodGet, url, nil, &out)
	return out, err
}

// post sends a POST to a native endpoint. It waits as long as for a first token, because the server may load a model.
func post[T any](ctx context.Context, c *Client, url string, in any) (out T, err error) {
	limit := c.limits.FirstToken
	late := unreachable("%s did not answer within %s", c.base.Host, limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, late)
	defer cancel()
	err = c.ask(ctx, http.MethodPost, url, in, &out)
	return out, err
}

// ask sends a native request. Errors: a [messages.Error] without the key, or the cause of ctx.
func (c *Client) ask(ctx context.Context, method, url string, in, out any) error {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return messages.InvalidInput("the request cannot be sent: %v", err)
		}
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return messages.InvalidInput("cannot make a request to the model's base URL")
	}
	request.Header.Set("User-Agent", "lastword")
	request.Header.Set("Accept", "application/json")
	if in != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		request.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := (&http.Client{Transport: c.transport, CheckRedirect: noRedirect}).Do(request)
	if err != nil {
		return c.explain(ctx, err)
	}
	defer response.Body.Close()
	return c.decode(ctx, response, out)
}

// decode reads a response into out, and bounds its size. It removes secrets, because a server may repeat the key.
func (c *Client) decode(ctx context.Context, response *http.Response, out any) error {
	text, err := io.ReadAll(io.LimitReader(response.Body, listBytes+1))
	switch {
	case err != nil:
		return c.explain(ctx, err)
	case len(text) > listBytes:
		return messages.LimitExceeded("%s sends more than %s", c.base.Host, words.Limit(listBytes))
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return c.rejection(response.StatusCode, text)
	}
	if err := json.Unmarshal(c.secrets.Bytes(text), out); err != nil {
		return messages.Errorf(messages.CauseProviderError, "%s answers with unexpected JSON; check the base URL", c.base.Host)
	}
	return nil
}

// rejection returns the error for a status other than 2xx.
func (c *Client) rejection(status int, text []byte) error {
	words := http.StatusText(status)
	if len(bytes.TrimSpace(text)) > 0 {
		words = c.failureIn(text).Message
	}
	e := messages.Errorf(messages.CauseProviderError, "%s answers http %d: %s", c.base.Host, status, words)
	e.Retryable, e.Provider = model.RetryableStatus(status), &messages.Provider{Status: status}
	if status == http.StatusUnauthorized || status == http.StatusForbidden {
		e.Code = messages.CodeProviderAuth
	}
	return &rejected{e, status, loading(status, text)}
}

// rejected is an error response with its status.
type rejected struct {
	err     *messages.Error
	status  int
	loading bool // the server is still loading the model
}

func (r *rejected) Error() string { return r.err.Message }

func (r *rejected) Unwrap() error { return r.err }

// StillLoading reports whether an error of Models means that the server is still loading its model.
func StillLoading(err error) bool {
	r, ok := errors.AsType[*rejected](err)
	return ok && r.loading
}

func loading(status int, body []byte) bool {
	return status == http.StatusServiceUnavailable && bytes.Contains(bytes.ToLower(body), []byte("loading"))
}

// unsupported reports whether the server lacks an endpoint. Either the status says so, or the JSON is unexpected,
// because LM Studio answers any path.
func unsupported(err error) bool {
	r, ok := errors.AsType[*rejected](err)
	switch {
	case !ok:
		return messages.CodeOf(err).Cause() == messages.CauseProviderError
	case r.status == http.StatusNotFound, r.status == http.StatusMethodNotAllowed,
		r.status == http.StatusNotImplemented, r.status == http.StatusBadRequest:
		return true
	}
	return false
}

// explain adds the server's address to a network error.
func (c *Client) explain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	words, noServer := c.networkError(err)
	if !noServer {
		words = "cannot reach " + c.base.Host + ": " + words
	}
	e := unreachable("%s", words)
	e.Retryable = true
	return e
}

func unreachable(format string, args ...any) *messages.Error {
	return messages.Errorf(messages.CauseTransportClosed, format, args...)
}

// Page is the response to a GET.
type Page struct {
	Status int
	Header http.Header
	Body   []byte // the first MiB
	// Came is when the header arrived.
	Came time.Time
}

// Loading reports whether the page says that the server is still loading its model.
func (p *Page) Loading() bool { return loading(p.Status, p.Body) }

// pageBytes limits what is read of a page.
const pageBytes = 1 << 20

// Get requests a path below the base URL, such as "/models", once and without following redirects. keyless omits the
// key, to see how the server answers then. Errors never contain the key; they may be the cause of ctx.
func (c *Client) Get(ctx context.Context, path string, keyless bool) (*Page, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.String()+path, nil)
	if err != nil {
		return nil, messages.InvalidInput("%s is not a valid path: %v", path, err)
	}
	r.Header.Set("User-Agent", "lastword")
	if c.key != "" && !keyless {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := c.transport.RoundTrip(r)
	if err != nil {
		return nil, c.redactError(ctx, err)
	}
	defer response.Body.Close()
	page := &Page{Status: response.StatusCode, Header: response.Header, Came: time.Now()}
	for _, values := range page.Header {
		for i, value := range values {
			values[i] = c.redact(value)
		}
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, pageBytes))
	page.Body = []byte(c.redact(string(body)))
	return page, c.redactError(ctx, err)
}

// networkError returns the text of a network error without the URL. noServer says that nothing listens at the address;
// the text then says what to do.
func (c *Client) networkError(err error) (words string, noServer bool) {
	if urlErr, ok := errors.AsType[*url.Error](err); ok {
		err = urlErr.Err
	}
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Op != "dial" {
		return c.redact(err.Error()), false
	}
	usual := map[string]string{"http": "80", "https": "443"}[c.base.Scheme]
	if tcp, ok := op.Addr.(*net.TCPAddr); !ok || strconv.Itoa(tcp.Port) != cmp.Or(c.base.Port(), usual) { // a proxy's port
		return c.redact(err.Error()), false
	}
	reason := op.Err
	if call, ok := errors.AsType[*os.SyscallError](reason); ok {
		reason = call.Err
	}
	return fmt.Sprintf("nothing answers at %s (%v): start LM Studio or another server there, or set "+
		"--base-url; for details run lastword doctor", c.base.Host, reason), true
}

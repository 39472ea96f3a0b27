package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/messages"
)

// Client calls the HTTP API of one server. It is safe for concurrent use.
type Client struct {
	base            *url.URL
	token, terminal string
	client          *http.Client
	gone            func() bool
	rest            func(context.Context, messages.RunID, messages.FollowOptions) iter.Seq2[messages.Event, error]
}

// New returns a client of the server at base, for example http://127.0.0.1:7878 or unix:/run/lastword.sock. token is ""
// if the server needs none. Errors: invalid_input.
func New(base, token string) (*Client, error) {
	transport, base := dial.ServerTransport(base)
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, messages.Errorf(messages.CauseInvalidInput,
			"%.200q is not the URL of a server; write one such as http://127.0.0.1:7878", base)
	}
	return &Client{base: u, token: token, client: dial.Named(transport)}, nil
}

// AtTerminal makes the client send the secret of the server that says that a person is at a terminal here.
func (c *Client) AtTerminal(secret string) { c.terminal = secret }

// UntilGone makes readers wait for a server that does not answer only until gone reports that it will not come back. They
// go on with rest then, which yields the events after those that they have; a reader of a tree ends.
func (c *Client) UntilGone(gone func() bool, rest func(context.Context, messages.RunID, messages.FollowOptions) iter.Seq2[messages.Event, error]) {
	c.gone, c.rest = gone, rest
}

// Submit starts a detached run. With a Key, it sends the request again if the response is lost, because the same key
// gives the same run.
func (c *Client) Submit(ctx context.Context, q messages.Request) (messages.RunID, error) {
	body := map[string]any{"job": q.Job, "detached": true, "labels": q.Labels, "limits": q.Limits}
	if q.Input != nil {
		body["input"] = q.Input
	}
	if q.Busy != "" {
		body["busy"] = q.Busy
	}
	header := http.Header{}
	if q.Key != "" {
		header.Set("Idempotency-Key", q.Key)
	}
	var state messages.State
	for pause := firstPause; ; pause *= 2 {
		err := c.call(ctx, http.MethodPost, "/v1/runs", header, body, &state)
		if err == nil || q.Key == "" || !retryable(err) || pause > time.Second {
			return state.RunID, err
		}
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

// Jobs returns the jobs that the caller can start, with their descriptions and the schemas of their input.
func (c *Client) Jobs(ctx context.Context) (jobs []messages.JobInfo, err error) {
	var list struct {
		Jobs []struct {
			Name, Description, Server, Tool string
			Schema                          json.RawMessage
		}
	}
	err = c.call(ctx, http.MethodGet, "/v1/jobs", nil, nil, &list)
	for _, j := range list.Jobs {
		jobs = append(jobs, messages.JobInfo{Name: j.Name, JobSpec: messages.JobSpec{Description: j.Description, Server: j.Server, Tool: j.Tool,
			Input: func() json.RawMessage { return j.Schema }}})
	}
	return jobs, err
}

// Schedules sends an order about the caller's schedules, and decodes the server's answer into lines.
func (c *Client) Schedules(ctx context.Context, order, lines any) error {
	return c.call(ctx, http.MethodPost, "/schedules", nil, order, lines)
}

// Webhooks sends an operator's order about webhooks, and decodes the server's answer into lines.
func (c *Client) Webhooks(ctx context.Context, order, lines any) error {
	return c.call(ctx, http.MethodPost, "/webhooks", nil, order, lines)
}

// Faults sends an operator's order about fault points, and decodes the server's answer into lines.
func (c *Client) Faults(ctx context.Context, order, lines any) error {
	return c.call(ctx, http.MethodPost, "/faults", nil, order, lines)
}

// State returns the State of a run.
func (c *Client) State(ctx context.Context, id messages.RunID) (messages.State, error) {
	var state messages.State
	return state, c.call(ctx, http.MethodGet, pathOf(id), nil, nil, &state)
}

// List returns a page of the caller's runs, the newest first, and the cursor of the next page. It ignores q.Principal
// and q.After: the server knows the caller, and cursor says where the page begins.
func (c *Client) List(ctx context.Context, q messages.Query, cursor string) (list []messages.Summary, next string, err error) {
	v := url.Values{}
	for _, status := range q.Status {
		v.Add("status", string(status))
	}
	for name, value := range q.Labels {
		v.Add("label", name+":"+value)
	}
	if len(q.Status) > 1 {
		v["status"] = []string{strings.Join(v["status"], ",")}
	}
	set(v, "job", q.Job)
	set(v, "cursor", cursor)
	if q.Limit > 0 {
		v.Set("limit", strconv.Itoa(q.Limit))
	}
	var page struct {
		Runs []messages.Summary `json:"runs"`
		Next string             `json:"next"`
	}
	err = c.call(ctx, http.MethodGet, "/v1/runs?"+v.Encode(), nil, nil, &page)
	return page.Runs, page.Next, err
}

// Cancel cancels a run. It returns when the cancellation is in the run's log.
func (c *Client) Cancel(ctx context.Context, id messages.RunID, reason string) error {
	return c.call(ctx, http.MethodPost, pathOf(id)+"/cancel", nil, map[string]any{"reason": reason}, nil)
}

// Answer answers a run's question. It returns when the answer is in the run's log.
func (c *Client) Answer(ctx context.Context, id messages.RunID, request string, value json.RawMessage) error {
	return c.call(ctx, http.MethodPost, pathOf(id)+"/input/"+url.PathEscape(request), nil, map[string]any{"value": value}, nil)
}

// Say says something to a run that works. It returns when the message is in the run's log.
func (c *Client) Say(ctx context.Context, id messages.RunID, msg messages.Said) (m messages.Message, err error) {
	body := map[string]any{"id": msg.Message, "content": msg.Content}
	if msg.Mode != "" {
		body["mode"] = msg.Mode
	}
	err = c.call(ctx, http.MethodPost, pathOf(id)+"/messages", nil, body, &m)
	return m, err
}

// Release lets a held run begin. It returns when that is in the run's log.
func (c *Client) Release(ctx context.Context, id messages.RunID) error {
	return c.call(ctx, http.MethodPost, pathOf(id)+"/release", nil, nil, nil)
}

// Move gives a run that waits for its turn a place right before the other that waits, or with "" the first place. It
// returns when that is in the run's log.
func (c *Client) Move(ctx context.Context, id, before messages.RunID) error {
	return c.call(ctx, http.MethodPost, pathOf(id)+"/move", nil, map[string]messages.RunID{"before": before}, nil)
}

// DeleteLog deletes the log of an ended run.
func (c *Client) DeleteLog(ctx context.Context, id messages.RunID) error {
	return c.call(ctx, http.MethodDelete, pathOf(id), nil, nil, nil)
}

// Forget is DeleteLog.
//
// Deprecated: Use [Client.DeleteLog].
func (c *Client) Forget(ctx context.Context, id messages.RunID) error { return c.DeleteLog(ctx, id) }

// Artifact opens a file that the run wrote. The caller must close it.
func (c *Client) Artifact(ctx context.Context, id messages.RunID, name string) (io.ReadCloser, error) {
	return c.open(ctx, pathOf(id)+"/artifacts/"+url.PathEscape(name))
}

// open sends a GET and returns the body, which the caller must close.
func (c *Client) open(ctx context.Context, path string) (io.ReadCloser, error) {
	response, err := c.send(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// Proof opens the signed log of a run. The caller must close it.
func (c *Client) Proof(ctx context.Context, id messages.RunID) (io.ReadCloser, error) {
	return c.open(ctx, pathOf(id)+"/proof")
}

// Keys returns the public keys that sign the server's proofs, the newest first.
func (c *Client) Keys(ctx context.Context) ([]string, error) {
	var list struct{ Keys []string }
	err := c.call(ctx, http.MethodGet, "/v1/key", nil, nil, &list)
	return list.Keys, err
}

// Days returns what is left of today's tokens of models: the caller's, or with the scope admin the tokens of all who have used
// some. It is empty if the server sets no ceiling.
func (c *Client) Days(ctx context.Context) ([]messages.DayTokens, error) {
	var list struct{ Days []messages.DayTokens }
	err := c.call(ctx, http.MethodGet, "/v1/budget", nil, nil, &list)
	return list.Days, err
}

func pathOf(id messages.RunID) string { return "/v1/runs/" + url.PathEscape(string(id)) }

func set(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}

// call sends a request and decodes the JSON of its response.
func (c *Client) call(ctx context.Context, method, path string, header http.Header, body, answer any) error {
	response, err := c.send(ctx, method, path, header, body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if answer == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return c.unreachable(fmt.Errorf("its answer cannot be read: %w", err))
	}
	return messages.CheckNames(answer)
}

// Get asks for a path, such as /readyz, and returns the response of whatever status. Close its body. Errors: transport_closed.
func (c *Client) Get(ctx context.Context, path string) (*http.Response, error) {
	return c.do(ctx, http.MethodGet, path, nil, nil)
}

// send sends a request. A response with an error status becomes an error.
func (c *Client) send(ctx context.Context, method, path string, header http.Header, body any) (*http.Response, error) {
	response, err := c.do(ctx, method, path, header, body)
	if err != nil || response.StatusCode < 300 {
		return response, err
	}
	defer response.Body.Close()
	return nil, c.refused(response)
}

// do sends a request with the token. The caller closes the response's body.
func (c *Client) do(ctx context.Context, method, path string, header http.Header, body any) (*http.Response, error) {
	var content io.Reader
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, messages.Errorf(messages.CauseInvalidInput, "the request is not JSON: %v", err)
		}
		content = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimRight(c.base.String(), "/")+path, content)
	if err != nil {
		return nil, messages.Errorf(messages.CauseInvalidInput, "%v", err)
	}
	maps.Copy(r.Header, header)
	if content != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.terminal != "" {
		r.Header.Set("Lastword-Terminal", c.terminal)
	}
	response, err := c.client.Do(r)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, c.unreachable(err)
	}
	return response, nil
}

// unreachable returns the error for a server that cannot be reached. It is retryable, unless the request was refused here.
func (c *Client) unreachable(err error) error {
	if refused, ok := errors.AsType[*messages.Error](err); ok {
		return refused
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err // without the URL, which the message has already
	}
	e := messages.Errorf(messages.CauseTransportClosed, "cannot reach the server at %s: %v", c.base.Redacted(), err)
	e.Retryable = true
	return e
}

// refused returns the problem details of a response as an error.
func (c *Client) refused(response *http.Response) error {
	var p refusal
	data, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil || json.Unmarshal(data, &p) != nil || p.Code == "" {
		e := messages.Errorf(messages.CodeUnavailable, "the server at %s answered %s", c.base.Redacted(), response.Status)
		e.Retryable = response.StatusCode >= 500
		return e
	}
	return p.error()
}

// refusal holds those members of problem details that become an error.
type refusal struct {
	Code      messages.Code `json:"code"`
	Detail    string        `json:"detail"`
	Retryable bool          `json:"retryable"`
}

// error returns the server's error with its code, as if it had occurred here.
func (p refusal) error() *messages.Error {
	e := messages.Errorf(p.Code, "%s", p.Detail)
	e.Retryable = p.Retryable
	return e
}

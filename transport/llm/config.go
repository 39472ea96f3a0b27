package llm

import (
	"cmp"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/messages/redact"
	"go.uber.org/zap"
)

// Config says which server to call, and how. The zero value of every field but BaseURL works.
type Config struct {
	BaseURL string // as http://localhost:1234/v1
	Key     string // sent as a bearer token; "" for none
	KeyFile string // read by New for a Key that is ""
	// Secrets are what neither a server nor the consumer of its answer is told. New adds the key; nil is the key alone.
	Secrets *redact.Secrets
	// Profile is how the server ends an answer; "" for what is known of it by its host, port or Server header.
	Profile model.Profile
	Server  *ServerProfile // what a check has learned of the server; nil for nothing
	// Proxy is a URL, "" for the environment's or "none".
	Proxy string
	// CAFile holds certificates in PEM that are trusted beside the system's.
	CAFile string
	// Transport is used in the place of one that is made of Proxy and CAFile.
	Transport http.RoundTripper
	Limits    Limits
	// Retries are the most that a call is tried again; 0 for two, negative for none.
	Retries int
	// Logger gets a line for each try, without a word of the request or the answer; nil for none.
	Logger *zap.Logger
}

// Limits bound a call. Zero means the default, given behind each.
type Limits struct {
	RequestBytes  int64         // 32 MiB
	ResponseBytes int64         // 64 MiB
	FrameBytes    int           // of one event: 8 MiB
	FirstToken    time.Duration // of silence before the first token, where comments are no silence: 10 min
	Idle          time.Duration // between frames after it, where comments are silence: 5 min
	Request       time.Duration // of a call with all its tries: 30 min
	RetryAfter    time.Duration // that a server may ask to wait; a call that is asked to wait longer fails: 1 min
}

const (
	errorBytes    = 64 << 10 // of a body that is read for its error
	headBytes     = 4 << 10  // of an answer that turns out to be no stream
	drainBytes    = 8 << 10
	drainTime     = 50 * time.Millisecond
	retries       = 2
	backoffFirst  = 250 * time.Millisecond
	backoffMost   = 8 * time.Second
	messageLength = 2000 // of a server's own words
	finishBytes   = 100  // of a finish_reason
)

func (l Limits) orDefault() Limits {
	return Limits{
		RequestBytes:  cmp.Or(l.RequestBytes, 32<<20),
		ResponseBytes: cmp.Or(l.ResponseBytes, 64<<20),
		FrameBytes:    cmp.Or(l.FrameBytes, 8<<20),
		FirstToken:    cmp.Or(l.FirstToken, 10*time.Minute),
		Idle:          cmp.Or(l.Idle, 5*time.Minute),
		Request:       cmp.Or(l.Request, 30*time.Minute),
		RetryAfter:    cmp.Or(l.RetryAfter, time.Minute),
	}
}

func (c Config) retries() int {
	if c.Retries == 0 {
		return retries
	}
	return max(c.Retries, 0)
}

// base checks the address. A URL that holds a password is refused without being repeated.
func (c Config) base() (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(c.BaseURL, "/"))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, messages.InvalidInput("the model's base URL must be like http://localhost:1234/v1")
	case u.User != nil:
		return nil, messages.InvalidInput("the model's base URL must not hold a user or password; give a key instead")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, messages.InvalidInput("the model's base URL must not have a query or a fragment")
	}
	return u, nil
}

func (c Config) key() (string, error) {
	if c.Key != "" || c.KeyFile == "" {
		return strings.TrimSpace(c.Key), validKey(c.Key)
	}
	data, err := os.ReadFile(c.KeyFile)
	if err != nil {
		return "", messages.InvalidInput("the file of the model's key cannot be read: %v", err)
	}
	key := strings.TrimSpace(string(data))
	if key == "" {
		return "", messages.InvalidInput("the file of the model's key, %s, is empty", c.KeyFile)
	}
	return key, validKey(key)
}

// validKey keeps a key that cannot be in a header from an error of net/http, which would show it.
func validKey(key string) error {
	for _, r := range strings.TrimSpace(key) {
		if r <= ' ' || r > '~' {
			return messages.InvalidInput("the model's key holds characters that no key has")
		}
	}
	return nil
}

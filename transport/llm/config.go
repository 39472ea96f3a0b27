package llm

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Config configures a Client. Only BaseURL is required.
type Config struct {
	BaseURL string // for example http://localhost:1234/v1
	Key     string // sent as a bearer token; "" means none
	KeyFile string // file that New reads the key from, if Key is ""
	// Secrets are removed from requests and answers, and so is the key. It may be nil.
	Secrets *redact.Secrets
	// Profile says how the server ends an answer. If it is "", the Client derives it from the host, the port or the
	// Server header.
	Profile model.Profile
	Server  *ServerProfile // what "provider check" has learned about the server; may be nil
	// Proxy is a URL, "none", or "" for the proxy of the environment.
	Proxy string
	// CAFile is a PEM file with certificates that are trusted in addition to the system's.
	CAFile string
	// Transport replaces the transport that New would build from Proxy and CAFile.
	Transport http.RoundTripper
	Limits    Limits
	// Retries is the maximum number of retries of a call; 0 means 2, a negative value none.
	Retries int
}

// Limits bound a call. Fields that are zero take the defaults in the comments.
type Limits struct {
	RequestBytes  int64         // 32 MiB
	ResponseBytes int64         // 64 MiB
	FrameBytes    int           // size of one event; 8 MiB
	Tokens        int           // length of an answer, if neither the request nor the loaded context limits it; 32,768
	FirstToken    time.Duration // timeout for the first token; comment lines restart it; 10 min
	Idle          time.Duration // timeout between later frames; comment lines do not restart it; 5 min
	Request       time.Duration // timeout for a call with all its attempts; 30 min
	RetryAfter    time.Duration // longest Retry-After that is waited for; 1 min
}

const (
	errorBytes    = 64 << 10               // of an error's body
	headBytes     = 4 << 10                // of an answer that is not a stream
	drainBytes    = 8 << 10                // most bytes that are read after the end of an answer, to reuse the connection
	drainTime     = 50 * time.Millisecond  // the longest time for that
	loadingPause  = time.Second            // between two questions to a server that is loading a model
	backoffFirst  = 250 * time.Millisecond // the first pause before a retry
	backoffMost   = 8 * time.Second        // the longest pause
	messageLength = 2000                   // of a server's error message
	finishBytes   = 100                    // of a finish_reason
)

// orDefault replaces the limits that are not set.
func (l Limits) orDefault() Limits {
	return Limits{
		RequestBytes:  cmp.Or(l.RequestBytes, 32<<20),
		ResponseBytes: cmp.Or(l.ResponseBytes, 64<<20),
		FrameBytes:    cmp.Or(l.FrameBytes, 8<<20),
		Tokens:        cmp.Or(l.Tokens, 32<<10),
		FirstToken:    cmp.Or(l.FirstToken, 10*time.Minute),
		Idle:          cmp.Or(l.Idle, 5*time.Minute),
		Request:       cmp.Or(l.Request, 30*time.Minute),
		RetryAfter:    cmp.Or(l.RetryAfter, time.Minute),
	}
}

// base checks the base URL. Its errors do not repeat a URL with a password.
func (c Config) base() (*url.URL, error) {
	u, err := url.Parse(strings.TrimRight(c.BaseURL, "/"))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, messages.InvalidInput("the model's base URL must be like http://localhost:1234/v1")
	case u.User != nil:
		return nil, messages.InvalidInput("the model's base URL must not contain a user or password; use a key instead")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, messages.InvalidInput("the model's base URL must not have a query or a fragment")
	}
	return u, nil
}

// key returns the key itself, or else the content of the key's file.
func (c Config) key() (string, error) {
	key := strings.TrimSpace(c.Key)
	if c.Key == "" && c.KeyFile != "" {
		data, err := regular.Read(c.KeyFile, regular.Small)
		if err != nil {
			return "", messages.InvalidInput("cannot read the file with the model's key: %v", err)
		}
		if key = strings.TrimSpace(string(data)); key == "" {
			return "", messages.InvalidInput("the file with the model's key, %s, is empty", c.KeyFile)
		}
	}
	// The error of net/http would show a key that is not valid in a header.
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", messages.InvalidInput("the model's key contains a space or a character outside ASCII")
	}
	return key, nil
}

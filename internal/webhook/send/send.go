package send

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/messages"
)

// Endpoint is a receiver of messages.
type Endpoint struct {
	URL string
	// Secrets sign each message: it carries one signature for each, so that a receiver can rotate its secret.
	Secrets []string
	// AllowPrivate allows http, and addresses that are not public.
	AllowPrivate bool
}

// Check returns an error (invalid_input) if nothing can be sent to the endpoint. It does not use DNS.
func (e Endpoint) Check() error {
	u, err := url.Parse(e.URL)
	if err == nil && u.Scheme == "http" && !e.AllowPrivate {
		return messages.InvalidInput("http is not encrypted: use https, or allow_private: true in the operator's file")
	}
	_, err = policy(e.AllowPrivate).Parse(e.URL)
	return err
}

// policy says which URLs and addresses an endpoint may have.
func policy(private bool) dial.Policy {
	return dial.Policy{HTTP: private, Private: private, Fixed: true}
}

// sender sends messages. It is safe for concurrent use.
type sender struct{ public, private *http.Client }

// NewSender returns a sender with its own connection pool.
func NewSender() *sender {
	client := func(private bool) *http.Client {
		c := policy(private).Client()
		c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		return c
	}
	return &sender{client(false), client(true)}
}

// Close closes idle connections.
func (s *sender) Close() {
	s.public.CloseIdleConnections()
	s.private.CloseIdleConnections()
}

const (
	// timeout is how long a receiver may take to answer.
	timeout = 20 * time.Second
	// mostAnswer is how many bytes of a response are read, so that its connection can be reused.
	mostAnswer = 4 << 10
	// longestPause limits the pause that a receiver may ask for.
	longestPause = time.Hour
)

// Send sends the body once. id must be the same in every attempt. An error says what the receiver answered; it is
// retryable unless the receiver was removed (410). pause is how long the receiver asks to wait before the next
// attempt.
func (s *sender) Send(ctx context.Context, to Endpoint, id string, body []byte) (pause time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(body))
	if err != nil {
		return 0, messages.InvalidInput("this is not a URL")
	}
	now := time.Now()
	signature, err := sign(to.Secrets, id, now, body)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "lastword-webhook")
	request.Header.Set("Webhook-Id", id)
	request.Header.Set("Webhook-Timestamp", strconv.FormatInt(now.Unix(), 10))
	request.Header.Set("Webhook-Signature", signature)
	client := s.public
	if to.AllowPrivate {
		client = s.private
	}
	response, err := client.Do(request)
	if err != nil {
		err = dial.Explain(ctx, request.URL.Hostname(), err)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = messages.Errorf(messages.CauseDeadline, "%s does not answer within %v", request.URL.Hostname(), timeout)
		}
		e := messages.Errorf(messages.CodeOf(err), "%v", err)
		e.Retryable = true // names and networks change
		return 0, e
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, mostAnswer) // only the status counts
	if response.StatusCode/100 == 2 {
		return 0, nil
	}
	e := messages.Errorf(messages.CauseError, "%s answers %s", request.URL.Hostname(), status(response.StatusCode))
	e.Retryable = response.StatusCode != http.StatusGone
	return min(dial.RetryAfter(response.Header), longestPause), e
}

// status describes a status code that is no success.
func status(code int) string {
	text := strconv.Itoa(code)
	if name := http.StatusText(code); name != "" {
		text += " " + name
	}
	if code/100 == 3 {
		text += ": a redirect is not followed, write the URL that it leads to"
	}
	return text
}

// The bounds of a secret in bytes, as in the specification.
const (
	secretPrefix = "whsec_"
	shortest     = 24
	longest      = 64
)

// keyOf decodes a secret. Errors: invalid_input, which does not repeat the secret.
func keyOf(secret string) ([]byte, error) {
	text, found := strings.CutPrefix(secret, secretPrefix)
	key, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(text, "="))
	if !found || err != nil || len(key) < shortest || len(key) > longest {
		return nil, messages.InvalidInput("a secret is %s and the base64 of %d to %d random bytes: printf 'whsec_%%s\\n' \"$(openssl rand -base64 32)\" makes one",
			secretPrefix, shortest, longest)
	}
	return key, nil
}

// CheckSecret returns an error if the secret cannot sign. Errors: invalid_input, which does not repeat the secret.
func CheckSecret(secret string) error {
	_, err := keyOf(secret)
	return err
}

// sign returns the value of webhook-signature: one signature for each secret.
func sign(secrets []string, id string, when time.Time, body []byte) (string, error) {
	var all []string
	for _, secret := range secrets {
		key, err := keyOf(secret)
		if err != nil {
			return "", err
		}
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(when.Unix(), 10) + "."))
		mac.Write(body)
		all = append(all, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(all, " "), nil
}

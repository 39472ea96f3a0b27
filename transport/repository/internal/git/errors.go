package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/pktline"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// tokenHint says where access tokens are taken from.
const tokenHint = "a token is taken from LASTWORD_GIT_TOKENS, as host=token, and for GitHub from LASTWORD_GIT_TOKEN, " +
	"GH_TOKEN or GITHUB_ACCESS_TOKEN"

func exceededObject(size int64, limits Limits) error {
	return messages.LimitExceeded("an object of %s is larger than the limit of %s, "+
		"a 32nd of --max-bytes; raise --max-bytes", words.Limit(size), words.Limit(limits.ObjectBytes))
}

// undelivered returns a retryable error, for a failure of the server or the network.
func undelivered(format string, args ...any) error {
	err := messages.Errorf(messages.CauseTransportClosed, format, args...)
	err.Retryable = true
	return err
}

// explain turns an error of go-git, whose text may contain anything, into an error for users.
func explain(ctx context.Context, host string, m *meter, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if m.err != nil {
		return dial.Explain(ctx, host, m.err)
	}
	if known, ok := errors.AsType[*messages.Error](err); ok {
		return known
	}
	if hidden := unwrap(err); hidden != nil {
		return explain(ctx, host, m, hidden)
	}
	if explained := explainAnswer(host, err); explained != nil {
		return explained
	}
	return dial.Explain(ctx, host, err)
}

// unwrap unwraps those two error types of go-git that have no Unwrap method.
func unwrap(err error) error {
	if e, ok := errors.AsType[*plumbing.UnexpectedError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*plumbing.PermanentError](err); ok {
		return e.Err
	}
	return nil
}

// explainAnswer turns an error that the server has sent into an error for users.
func explainAnswer(host string, err error) error {
	switch {
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return messages.InvalidInput("%s refused access: the repository is private, or the token may not read it; %s", host, tokenHint)
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return messages.InvalidInput("%s knows no such repository: it does not exist or is private; check the URL; %s", host, tokenHint)
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return errEmpty()
	case errors.Is(err, pktline.ErrInvalidPktLen), errors.Is(err, packp.ErrEmptyInput):
		return errNoRepository(host)
	case strings.Contains(err.Error(), "http redirect: "):
		return messages.InvalidInput("%s redirects to where git does not follow; use the URL that a browser ends at", host)
	}
	if line, ok := errors.AsType[*packp.ErrUnexpectedData](err); ok {
		if bytes.Contains(line.Data, []byte("object-format=sha256")) {
			return messages.InvalidInput("the repository numbers its commits by SHA-256, which is not supported; use an archive of it")
		}
		return errNoRepository(host)
	}
	if wrong, ok := errors.AsType[*pktline.ErrorLine](err); ok {
		return messages.InvalidInput("%s refused: %s", host, oneLine(wrong.Text))
	}
	if answer, ok := errors.AsType[*githttp.Err](err); ok {
		return explainStatus(host, answer.StatusCode())
	}
	return nil
}

func errEmpty() error { return messages.InvalidInput("the repository is empty: it has no commit yet") }

func errNoRepository(host string) error {
	return messages.InvalidInput("%s does not answer as a git repository; check the URL", host)
}

// explainStatus returns the error for an HTTP status. Only those that may pass are retryable.
func explainStatus(host string, status int) error {
	text := fmt.Sprintf("%d %s", status, http.StatusText(status))
	if status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout {
		return undelivered("%s answers %s; try again later", host, text)
	}
	return messages.InvalidInput("%s answers %s; check the URL", host, text)
}

// oneLine returns a server's text as one printable line of limited length.
func oneLine(text string) string { return words.Clip(words.OneLine(text), 300) }

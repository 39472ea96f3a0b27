package archive

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/internal/dial"
	"github.com/seed889630bf/lastword/transport/internal/regular"
)

// input is an opened source.
type input struct {
	body  io.Reader
	file  *os.File // a local archive
	host  string   // "" for a local file
	label string   // for messages: without credentials and query
	names []string // file names that may tell the content's name, the best first
	total int64    // size in bytes; 0 or less if unknown
	close func()
}

// open opens a path of this machine or a URL. The policy decides which URLs it may read.
func open(ctx context.Context, source string, o Options) (*input, error) {
	if !strings.Contains(source, "://") {
		return openFile(source)
	}
	u, err := o.Allow.Parse(source)
	if err != nil {
		return nil, err
	}
	switch u.Scheme {
	case "file":
		return openFile(u.Path)
	case "ssh":
		return nil, invalid("refused: an archive is not read over ssh; use https")
	}
	return fetch(ctx, u, o)
}

// openFile opens an archive on this machine. It refuses pipes and devices, which may never end.
func openFile(path string) (*input, error) {
	label := strconv.Quote(path)
	file, info, err := regular.Open(path)
	if err != nil {
		return nil, invalid("%s cannot be read: %v", label, reason(err))
	}
	return &input{body: file, file: file, label: label, names: []string{path}, total: info.Size(),
		close: func() { _ = file.Close() }}, nil
}

// reason removes the path from an error of package os, because the label has it already.
func reason(err error) error {
	if wrapped, ok := errors.AsType[*fs.PathError](err); ok {
		return wrapped.Err
	}
	return err
}

// fetch requests an archive. It forbids content encodings, so that the size limit counts the bytes of the archive
// itself.
func fetch(ctx context.Context, u *url.URL, o Options) (*input, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, invalid("refused: this is not a URL")
	}
	request.Header.Set("Accept", "*/*")
	request.Header.Set("Accept-Encoding", "identity")
	request.Header.Set("User-Agent", "lastword")
	if o.Token != nil && u.Scheme == "https" {
		if token := o.Token(u.Hostname()); token != "" {
			o.Secrets.Add("token", token)
			request.Header.Set("Authorization", "Bearer "+token)
		}
	}
	client := o.Allow.Client()
	response, err := client.Do(request)
	if err != nil {
		client.CloseIdleConnections()
		return nil, dial.Explain(ctx, u.Hostname(), err)
	}
	in := &input{body: response.Body, host: response.Request.URL.Hostname(), label: label(u),
		names: remoteNames(u, response), total: response.ContentLength,
		close: func() { _ = response.Body.Close(); client.CloseIdleConnections() }}
	if err := checkStatus(in.label, response.StatusCode); err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

// label returns the URL without its query, which may hold a signature.
func label(u *url.URL) string { return u.Scheme + "://" + u.Host + u.EscapedPath() }

// remoteNames returns the file names that the response and the URL suggest.
func remoteNames(u *url.URL, response *http.Response) []string {
	var names []string
	if _, params, err := mime.ParseMediaType(response.Header.Get("Content-Disposition")); err == nil {
		names = append(names, params["filename"])
	}
	return append(names, response.Request.URL.Path, u.Path)
}

// checkStatus returns an error for a status other than 200.
func checkStatus(label string, status int) error {
	switch {
	case status == http.StatusOK:
		return nil
	case status == http.StatusTooManyRequests, status >= 500:
		err := messages.Errorf(messages.CauseTransportClosed,
			"the server of %s answers %d; try again later", label, status)
		err.Retryable = true
		return err
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusNotFound:
		return invalid("the server of %s answers %d: there is no such archive, or reading it takes a token in "+
			"LASTWORD_GIT_TOKENS, as host=token, or for GitHub in LASTWORD_GIT_TOKEN (or GH_TOKEN or "+
			"GITHUB_ACCESS_TOKEN)", label, status)
	}
	return invalid("the server of %s answers %d in place of an archive", label, status)
}

package archive

import (
	"bufio"
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

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
)

// Allow says which URLs are allowed besides https at public addresses.
type Allow = dial.Policy

// Options configure [Read]. The zero Options are the strictest.
type Options struct {
	Allow  Allow
	Limits Limits
	// Token, if not nil, returns the token for a host, or "". The token is sent only over TLS and only to the URL's
	// host, never after a redirect to another host.
	Token func(host string) string
	// Secrets are removed from errors and names, and so is the token. It may be nil.
	Secrets *redact.Secrets
}

// Archive is an archive that was read.
type Archive struct {
	Files   fs.FS   // also fs.ReadFileFS and fs.ReadLinkFS
	Name    string  // name of the content, without version, as the file name, the server or the top folder says; may be ""
	Commit  string  // hexadecimal, if "git archive" recorded it, else ""
	Skipped Skipped // entries that are missing or incomplete in Files
}

// Skipped counts entries that were left out, by reason.
type Skipped struct {
	Paths      int // unsafe name
	Duplicates int // the name is taken, or needs a folder where a file is
	Special    int // devices, pipes, hard links
	Broken     int // encrypted, damaged, or compressed in an unknown way (zip)
}

// Read reads the archive at source: the path of a local file, or a URL (anything with "://"). progress, if not nil, is
// called with the bytes read so far and the total (0 if unknown), every 256 KiB and at the end. The error is the cause
// of ctx or a [messages.Error]: invalid_input if the source is refused or missing or not an archive; limit_exceeded;
// transport_closed, which may be retryable; or error if the disk fails.
func Read(
	ctx context.Context, source string, o Options, progress func(done, total int64),
) (a *Archive, err error) {
	if o.Secrets == nil {
		o.Secrets = new(redact.Secrets)
	}
	defer func() {
		err = o.Secrets.Error(err)
		if a != nil {
			a.Name = o.Secrets.Text(a.Name)
		}
	}()
	in, err := open(ctx, source, o)
	if err != nil {
		return nil, err
	}
	defer in.close()
	limits := o.Limits.withDefaults()
	w := &wire{ctx: ctx, in: in, limit: limits.WireBytes, progress: progress}
	k := &keeper{budget: budget{Limits: limits, wire: w}}
	if in.total > w.limit { // the declared size suffices to refuse it before the download
		return nil, w.tooLarge()
	}
	if err := k.unpack(w); err != nil {
		return nil, w.explain(err)
	}
	if _, err := io.Copy(io.Discard, w); err != nil { // what follows the end must come too, within the limit
		return nil, w.explain(err)
	}
	w.report()
	return k.archive(in)
}

// unpack reads an archive of any supported format.
func (k *keeper) unpack(w *wire) error {
	head := bufio.NewReaderSize(w, 64<<10)
	kind, err := sniff(head)
	if err != nil {
		return err
	}
	if kind == zipped {
		return k.zip(head, w)
	}
	plain, err := kind.decompress(head)
	if err != nil {
		return err
	}
	return k.tar(bufio.NewReaderSize(&meter{plain, &k.budget}, 64<<10), kind != tarred)
}

// archive returns the result.
func (k *keeper) archive(in *input) (*Archive, error) {
	switch {
	case k.count == 0 && k.skipped.Paths > 0:
		return nil, messages.InvalidInput("%s holds no file with a safe name (%d were left out)", in.label, k.skipped.Paths)
	case k.count == 0 && k.skipped.Broken > 0:
		return nil, messages.InvalidInput("%s holds no file that can be read: %d are encrypted, damaged or compressed in an unknown way; "+
			"unpack it and name the folder", in.label, k.skipped.Broken)
	}
	top, files, err := k.stripped()
	if err != nil {
		return nil, messages.InvalidInput("%s is damaged: %v", in.label, err)
	}
	return &Archive{Files: files, Name: name(append(in.names, top)), Commit: k.commit, Skipped: k.skipped}, nil
}

// meter counts the output of a decompressor, and fails at the limit.
type meter struct {
	io.Reader
	budget *budget
}

// Read implements io.Reader. Over the limit, its error is the budget's.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.budget.streamed += int64(n)
	if over := m.budget.check(m.budget.streamed); over != nil {
		return n, over
	}
	return n, err
}

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
		return nil, messages.InvalidInput("refused: an archive is not read over ssh; use https")
	}
	return fetch(ctx, u, o)
}

// openFile opens an archive on this machine. It refuses pipes and devices, which may never end.
func openFile(path string) (*input, error) {
	label := strconv.Quote(path)
	file, info, err := regular.Open(path)
	if err != nil {
		return nil, messages.InvalidInput("%s cannot be read: %v", label, reason(err))
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
		return nil, messages.InvalidInput("refused: this is not a URL")
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
		return messages.InvalidInput("the server of %s answers %d: there is no such archive, or reading it takes a token in "+
			"LASTWORD_GIT_TOKENS, as host=token, or for GitHub in LASTWORD_GIT_TOKEN (or GH_TOKEN or "+
			"GITHUB_ACCESS_TOKEN)", label, status)
	}
	return messages.InvalidInput("the server of %s answers %d in place of an archive", label, status)
}

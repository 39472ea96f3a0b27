package archive

import (
	"bufio"
	"context"
	"io"
	"io/fs"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/redact"
	"github.com/seed889630bf/lastword/transport/internal/dial"
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
		return nil, invalid("%s holds no file with a safe name (%d were left out)", in.label, k.skipped.Paths)
	case k.count == 0 && k.skipped.Broken > 0:
		return nil, invalid("%s holds no file that can be read: %d are encrypted, damaged or compressed in an unknown way; "+
			"unpack it and name the folder", in.label, k.skipped.Broken)
	}
	top, files, err := k.stripped()
	if err != nil {
		return nil, invalid("%s is damaged: %v", in.label, err)
	}
	return &Archive{Files: files, Name: name(append(in.names, top)), Commit: k.commit, Skipped: k.skipped}, nil
}

// meter counts the output of a decompressor, and fails at the limit.
type meter struct {
	io.Reader
	budget *budget
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.budget.streamed += int64(n)
	if over := m.budget.check(m.budget.streamed); over != nil {
		return n, over
	}
	return n, err
}

func invalid(format string, args ...any) error { return messages.InvalidInput(format, args...) }

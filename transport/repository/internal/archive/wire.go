package archive

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/seed889630bf/lastword/internal/dial"
	"github.com/seed889630bf/lastword/messages"
)

// progressStep is the number of bytes between two calls of progress.
const progressStep = 256 << 10

// wire reads the archive as transferred, and limits and counts its bytes.
type wire struct {
	ctx      context.Context
	in       *input
	limit    int64
	progress func(done, total int64)
	done     int64 // bytes read
	reported int64 // done as of the last report
	err      error // the first error other than io.EOF; decompressors may hide it
}

func (w *wire) tooLarge() error {
	return messages.LimitExceeded("%s is larger than %d bytes; --max-download raises the limit", w.in.label, w.limit)
}

// Read reads at most one byte more than the limit; that byte causes the error.
func (w *wire) Read(p []byte) (int, error) {
	if w.err == nil && w.ctx.Err() != nil {
		w.err = context.Cause(w.ctx)
	}
	if w.err != nil {
		return 0, w.err
	}
	p = p[:min(int64(len(p)), w.limit-w.done+1)]
	n, err := w.in.body.Read(p)
	w.done += int64(n)
	if w.done > w.limit {
		err = w.tooLarge()
	}
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	if w.done-w.reported >= progressStep {
		w.report()
	}
	return n, err
}

func (w *wire) report() {
	w.reported = w.done
	if w.progress != nil {
		w.progress(w.done, max(w.in.total, 0))
	}
}

// explain turns a read error into an error for users.
func (w *wire) explain(err error) error {
	if w.err != nil {
		err = w.err
	}
	_, isDisk := errors.AsType[*fs.PathError](err) // the local disk failed, not the archive
	switch {
	case w.ctx.Err() != nil:
		return context.Cause(w.ctx)
	case messages.CodeOf(err) != "": // it has a message for users
		return err
	case w.err != nil && w.in.host != "":
		return dial.Explain(w.ctx, w.in.host, err)
	case w.err != nil:
		return messages.InvalidInput("%s cannot be read: %v", w.in.label, err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return w.cutOff()
	case isDisk:
		return messages.Errorf(messages.CauseError, "%s cannot be kept for reading: %v", w.in.label, err)
	}
	return messages.InvalidInput("%s is damaged: %v", w.in.label, err)
}

// cutOff returns the error for an incomplete archive. It is retryable if a server closed the connection.
func (w *wire) cutOff() error {
	if w.in.host == "" {
		return messages.InvalidInput("%s is cut off after %d bytes", w.in.label, w.done)
	}
	err := messages.Errorf(messages.CauseTransportClosed,
		"%s is cut off after %d bytes; try again", w.in.label, w.done)
	err.Retryable = true
	return err
}

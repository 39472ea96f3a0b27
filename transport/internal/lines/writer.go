package lines

import (
	"context"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

const (
	// maxPending is how many lines wait for a client on stdio before writers block.
	maxPending = 256
	// maxPiece is how many bytes are written at once, so that progress within a long line shows.
	maxPiece = 64 << 10
)

// Writer writes lines in order. One goroutine writes to the client; lines that come meanwhile go out together.
type Writer struct {
	out     io.Writer
	redact  func([]byte) []byte
	lines   chan line
	closing chan struct{}
	done    chan struct{} // closed when Run has returned
	written atomic.Int64
	failed  error // why Run returned; to be read once done is closed
}

// line is a line without its end. If written is not nil, it gets how many bytes were written before the line.
type line struct {
	text    []byte
	written chan int64
}

// NewWriter returns a writer to out of what redact makes of the lines. Run writes them.
func NewWriter(out io.Writer, redact func([]byte) []byte) *Writer {
	return &Writer{out: out, redact: redact, lines: make(chan line, maxPending), closing: make(chan struct{}),
		done: make(chan struct{}), failed: io.ErrClosedPipe}
}

// Append adds a line, without its end. It blocks until there is room or ctx is done.
func (w *Writer) Append(ctx context.Context, text []byte) error {
	return w.append(ctx, line{text: text})
}

func (w *Writer) append(ctx context.Context, l line) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case w.lines <- l:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.closing:
		return io.ErrClosedPipe
	case <-w.done:
		return w.failed
	}
}

// AppendNow adds a line without blocking, or drops it if there is no room.
func (w *Writer) AppendNow(text []byte) {
	select {
	case w.lines <- line{text: text}:
	default:
	}
}

// WaitRead waits until all lines before it are written and, for at most limit, until the client has read them, if the
// system can tell.
func (w *Writer) WaitRead(ctx context.Context, limit time.Duration) {
	written := make(chan int64, 1)
	if w.append(ctx, line{written: written}) != nil {
		return
	}
	var end int64
	select {
	case end = <-written:
	case <-ctx.Done():
		return
	case <-w.done:
		return
	}
	file, ok := w.out.(*os.File)
	if !ok {
		return
	}
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for begin := time.Now(); time.Since(begin) < limit; {
		if n, ok := unread(file); !ok || int64(n) <= w.written.Load()-end {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Run writes until Close, and then what is left, or until a write fails.
func (w *Writer) Run() {
	defer close(w.done)
	var buffer []byte
	for {
		var next line
		select {
		case next = <-w.lines:
		case <-w.closing:
			select {
			case next = <-w.lines:
			default:
				return
			}
		}
		buffer, next = w.collect(buffer[:0], next)
		for piece := range slices.Chunk(w.redact(buffer), maxPiece) {
			if _, err := w.out.Write(piece); err != nil {
				w.failed = err
				return
			}
			w.written.Add(int64(len(piece)))
		}
		if next.written != nil {
			next.written <- w.written.Load()
		}
		if cap(buffer) > 1<<20 {
			buffer = nil
		}
	}
}

// collect appends the line, and those that wait, up to one that asks what was written.
func (w *Writer) collect(buffer []byte, next line) ([]byte, line) {
	for next.written == nil {
		buffer = append(append(buffer, next.text...), '\n')
		if len(buffer) >= maxPiece {
			break
		}
		select {
		case next = <-w.lines:
		default:
			return buffer, line{}
		}
	}
	return buffer, next
}

// Close ends the writer once everything is written. Writers that wait for room get an error.
func (w *Writer) Close() { close(w.closing) }

// Done is closed once nothing more is written; Err then says why.
func (w *Writer) Done() <-chan struct{} { return w.done }

// Err is why nothing more is written, once Done is closed.
func (w *Writer) Err() error { return w.failed }

// Await waits until done is closed, the limit, or the client reads nothing for as long as stall.
func (w *Writer) Await(done <-chan struct{}, limit <-chan time.Time, stall time.Duration) bool {
	for {
		at := w.written.Load()
		select {
		case <-done:
			return true
		case <-limit:
			return false
		case <-time.After(stall):
			if w.written.Load() == at {
				return false
			}
		}
	}
}

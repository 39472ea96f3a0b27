package lines

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxPending is the number of lines that may wait for the client before Append blocks.
	maxPending = 256
	// maxPiece is the maximum number of bytes per write, so that the progress within a long line is visible.
	maxPiece = 64 << 10
)

// Writer writes lines in order. The goroutine of Run writes to the client; lines that arrive meanwhile are written
// together. All methods are safe for concurrent use.
type Writer struct {
	out     io.Writer
	redact  func([]byte) []byte
	lines   chan line
	closing chan struct{} // closed when no more lines are accepted
	done    chan struct{} // closed when nothing more is written
	ending  sync.Once
	written atomic.Int64 // bytes written so far
	failed  error        // why nothing more is written; valid once done is closed
}

// line is a line without its end. If written is not nil, it receives the number of bytes before this line, and nothing
// is written.
type line struct {
	text    []byte
	written chan int64
}

// NewWriter returns a writer to out. It passes everything through redact. Call Run to start it.
func NewWriter(out io.Writer, redact func([]byte) []byte) *Writer {
	return &Writer{out: out, redact: redact, lines: make(chan line, maxPending), closing: make(chan struct{}),
		done: make(chan struct{})}
}

// Append adds a line, given without its end. It blocks until there is room or ctx is done.
func (w *Writer) Append(ctx context.Context, text []byte) error {
	return w.append(ctx, line{text: text})
}

// append waits for room, for ctx or for the writer's end, whichever comes first.
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

// AppendNow adds a line, or drops it if there is no room. It never blocks.
func (w *Writer) AppendNow(text []byte) {
	select {
	case w.lines <- line{text: text}:
	default:
	}
}

// WaitRead waits until all earlier lines are written, and then at most limit until the client has read them, if the
// operating system can tell.
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

// end says that nothing more is written, and why.
func (w *Writer) end(why error) {
	w.ending.Do(func() {
		w.failed = why
		close(w.done)
	})
}

// write writes a piece. If the client does not read it, the writer ends, although the write may stay blocked.
func (w *Writer) write(piece []byte) error {
	defer time.AfterFunc(patience, func() {
		w.end(fmt.Errorf("the client has not read the rest of a message for %s", patience))
	}).Stop()
	_, err := w.out.Write(piece)
	return err
}

// Run writes lines until Close, and then the rest, or until a write fails or lasts too long.
func (w *Writer) Run() {
	defer w.end(io.ErrClosedPipe)
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
			if err := w.write(piece); err != nil {
				w.end(err)
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

// collect appends the line and those that wait to the buffer, up to a line that asks for a position.
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

// Done is closed when nothing more is written. Err then says why.
func (w *Writer) Done() <-chan struct{} { return w.done }

// Err returns the reason why nothing more is written. It must be called only after Done is closed.
func (w *Writer) Err() error { return w.failed }

// Finish waits until idle is closed, and then until everything is written, at most for limit and only while the client
// reads something within each stall. Calls of Append that wait for room then return an error.
func (w *Writer) Finish(idle <-chan struct{}, limit, stall time.Duration) {
	over := time.After(limit)
	reads := w.await(idle, over, stall)
	close(w.closing)
	if reads {
		w.await(w.done, over, stall)
	}
}

// await waits until done is closed. It returns false if the limit fires, or if the client reads nothing for the
// duration stall.
func (w *Writer) await(done <-chan struct{}, limit <-chan time.Time, stall time.Duration) bool {
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

package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
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

// lineWriter writes lines in order. One goroutine writes to the client; lines that come meanwhile go out together.
type lineWriter struct {
	out     io.Writer
	redact  func([]byte) []byte
	lines   chan line
	closing chan struct{}
	done    chan struct{} // closed when run has returned
	written atomic.Int64
	failed  error // why run returned; to be read once done is closed
}

// line is a line without its end. If written is not nil, it gets how many bytes were written before the line.
type line struct {
	text    []byte
	written chan int64
}

func newLineWriter(out io.Writer, redact func([]byte) []byte) *lineWriter {
	return &lineWriter{out: out, redact: redact, lines: make(chan line, maxPending), closing: make(chan struct{}),
		done: make(chan struct{}), failed: io.ErrClosedPipe}
}

// append adds a line. It blocks until there is room or ctx is done.
func (w *lineWriter) append(ctx context.Context, l line) error {
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

// appendNow adds a line without blocking, or drops it if there is no room.
func (w *lineWriter) appendNow(text []byte) {
	select {
	case w.lines <- line{text: text}:
	default:
	}
}

// waitRead waits until all lines before it are written and, for at most limit, until the client has read them, if the
// system can tell.
func (w *lineWriter) waitRead(ctx context.Context, limit time.Duration) {
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

// run writes until close, and then what is left, or until a write fails.
func (w *lineWriter) run() {
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
func (w *lineWriter) collect(buffer []byte, next line) ([]byte, line) {
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

// close ends the writer once everything is written. Writers that wait for room get an error.
func (w *lineWriter) close() { close(w.closing) }

// await waits until done is closed, the limit, or the client reads nothing for as long as stall.
func (w *lineWriter) await(done <-chan struct{}, limit <-chan time.Time, stall time.Duration) bool {
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

// lineReader reads lines of at most limit bytes.
type lineReader struct {
	from  *bufio.Reader
	limit int64
}

func newLineReader(from io.Reader, limit int64) *lineReader {
	return &lineReader{from: bufio.NewReaderSize(from, 64<<10), limit: limit}
}

var errLong = errors.New("the line is too long")

// next returns the next line that is not blank, in its own memory. After errLong the next line can be read.
func (l *lineReader) next() ([]byte, error) {
	var line []byte
	for long := false; ; {
		part, err := l.from.ReadSlice('\n')
		if long = long || int64(len(line)+len(part)) > l.limit+1; !long {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
			continue
		case long && (err == nil || err == io.EOF):
			return nil, errLong
		case len(bytes.TrimSpace(line)) > 0 && (err == nil || err == io.EOF):
			return line, nil // the end comes with the next call
		case err != nil:
			return nil, err
		}
		line = nil
	}
}

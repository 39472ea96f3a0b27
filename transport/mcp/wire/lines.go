package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

const (
	// maxPending is how many bytes wait for a client on stdio before writers block.
	maxPending = 64 << 10
	// maxNotices bounds what waits if the writers must not block.
	maxNotices = 1 << 20
)

// lineWriter writes lines in order. One goroutine writes to the client; lines that come meanwhile go out together.
type lineWriter struct {
	out  io.Writer
	done chan struct{} // closed when run has returned

	mu     sync.Mutex
	change sync.Cond // signals bytes to write, room for more, or the end
	buffer []byte
	spare  []byte
	queued int64 // bytes ever added; wrote is how many were written
	wrote  int64
	closed bool
	err    error
}

func newLineWriter(out io.Writer) *lineWriter {
	w := &lineWriter{out: out, done: make(chan struct{})}
	w.change.L = &w.mu
	return w
}

// append adds a line and returns its end. It blocks until there is room; wake makes it look at ctx.
func (w *lineWriter) append(ctx context.Context, line []byte) (end int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.buffer) >= maxPending && w.err == nil && !w.closed && ctx.Err() == nil {
		w.change.Wait()
	}
	if w.err == nil && ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return w.enqueue(line)
}

// appendNow adds a line without blocking, or drops it if there is no room.
func (w *lineWriter) appendNow(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.buffer) < maxNotices {
		_, _ = w.enqueue(line)
	}
}

func (w *lineWriter) enqueue(line []byte) (int64, error) {
	if w.closed && w.err == nil {
		return 0, io.ErrClosedPipe
	}
	if w.err != nil {
		return 0, w.err
	}
	w.buffer = append(w.buffer, line...)
	w.queued += int64(len(line))
	w.change.Broadcast()
	return w.queued, nil
}

// waitRead waits until everything up to end is written and, for at most limit, until the client has read it, if the
// system can tell.
func (w *lineWriter) waitRead(ctx context.Context, end int64, limit time.Duration) {
	w.mu.Lock()
	for w.wrote < end && w.err == nil && ctx.Err() == nil {
		w.change.Wait()
	}
	w.mu.Unlock()
	file, ok := w.out.(*os.File)
	if !ok {
		return
	}
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for begin := time.Now(); time.Since(begin) < limit; {
		if n, ok := unread(file); !ok || int64(n) <= w.written()-end {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (w *lineWriter) written() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrote
}

// wake makes blocked writers look at their contexts.
func (w *lineWriter) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.change.Broadcast()
}

// run writes until close or a write error.
func (w *lineWriter) run() {
	defer close(w.done)
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.err == nil {
		for len(w.buffer) == 0 && !w.closed {
			w.change.Wait()
		}
		text := w.buffer
		if len(text) == 0 {
			return
		}
		w.buffer = w.spare[:0]
		for piece := range slices.Chunk(text, maxPending) { // so that progress within a long line shows
			if w.err == nil {
				w.write(piece)
			}
		}
		if w.spare = text[:0]; cap(text) > maxNotices {
			w.spare = nil
		}
	}
}

// write writes without the lock, which the caller holds.
func (w *lineWriter) write(piece []byte) {
	w.mu.Unlock()
	_, err := w.out.Write(piece)
	w.mu.Lock()
	w.wrote, w.err = w.wrote+int64(len(piece)), err
	w.change.Broadcast()
}

// close ends the writer once everything is written.
func (w *lineWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.change.Broadcast()
}

// await waits until done is closed, the limit, or the client reads nothing for as long as stall.
func (w *lineWriter) await(done <-chan struct{}, limit <-chan time.Time, stall time.Duration) bool {
	for {
		at := w.written()
		select {
		case <-done:
			return true
		case <-limit:
			return false
		case <-time.After(stall):
			if w.written() == at {
				return false
			}
		}
	}
}

func (w *lineWriter) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
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
	for {
		line, err := l.line()
		if len(bytes.TrimSpace(line)) > 0 || err != nil {
			return line, err
		}
	}
}

func (l *lineReader) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := l.from.ReadSlice('\n')
		if long = long || int64(len(line)+len(part)) > l.limit+1; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case long && (err == nil || err == io.EOF):
			return nil, errLong
		case err == io.EOF && len(line) > 0:
			return line, nil // the end comes with the next call
		default:
			return line, err
		}
	}
}

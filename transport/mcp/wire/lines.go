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

	mu       sync.Mutex
	work     sync.Cond // signals bytes to write, or the end
	room     sync.Cond // signals room for more, or an error
	buffer   []byte
	spare    []byte
	queued   int64 // bytes ever added; wrote is how many were written
	wrote    int64
	lastRead time.Time // when the client last read, or had read everything
	closed   bool
	err      error
}

func newLineWriter(out io.Writer) *lineWriter {
	w := &lineWriter{out: out, done: make(chan struct{})}
	w.work.L, w.room.L = &w.mu, &w.mu
	return w
}

// append adds a line and returns its end. It blocks until there is room; wake makes it look at ctx.
func (w *lineWriter) append(ctx context.Context, line []byte) (end int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.buffer) >= maxPending && w.err == nil && !w.closed && ctx.Err() == nil {
		w.room.Wait()
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
	if w.queued == w.wrote {
		w.lastRead = time.Now()
	}
	w.buffer = append(w.buffer, line...)
	w.queued += int64(len(line))
	w.work.Signal()
	return w.queued, nil
}

// waitWritten waits until everything up to end is written.
func (w *lineWriter) waitWritten(ctx context.Context, end int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.wrote < end && w.err == nil && ctx.Err() == nil {
		w.room.Wait()
	}
}

// waitRead waits until the client has read everything up to end, for at most limit.
func (w *lineWriter) waitRead(ctx context.Context, end int64, limit time.Duration) {
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
	w.room.Broadcast()
}

// run writes until close or a write error.
func (w *lineWriter) run() {
	defer close(w.done)
	for {
		text := w.next()
		if text == nil {
			return
		}
		if w.write(text); w.failure() != nil {
			return
		}
	}
}

// write writes in chunks, so that progress within a long line shows.
func (w *lineWriter) write(text []byte) {
	for piece := range slices.Chunk(text, maxPending) {
		_, err := w.out.Write(piece)
		if w.wroteChunk(len(piece), err); err != nil {
			return
		}
	}
	w.reuse(text)
}

func (w *lineWriter) next() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.buffer) == 0 && !w.closed {
		w.work.Wait()
	}
	if len(w.buffer) == 0 {
		return nil
	}
	text := w.buffer
	w.buffer = w.spare[:0]
	return text
}

func (w *lineWriter) wroteChunk(n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrote += int64(n)
	w.lastRead = time.Now()
	w.err = err
	w.room.Broadcast()
}

func (w *lineWriter) reuse(text []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spare = text[:0]
	if cap(text) > maxNotices {
		w.spare = nil
	}
}

// close waits until all is written, or the client stalls: see waitUnlessStalled.
func (w *lineWriter) close(since time.Time, stall time.Duration) {
	w.mu.Lock()
	w.closed = true
	w.work.Signal()
	w.room.Broadcast()
	w.mu.Unlock()
	w.waitUnlessStalled(w.done, since, stall)
}

// waitUnlessStalled waits until done is closed, for at most closeTimeout. It gives up when the client has read
// nothing for as long as stall, counted from since.
func (w *lineWriter) waitUnlessStalled(done <-chan struct{}, since time.Time, stall time.Duration) {
	end := time.NewTimer(closeTimeout)
	defer end.Stop()
	for left := w.untilStalled(since, stall); left > 0; left = w.untilStalled(since, stall) {
		select {
		case <-done:
			return
		case <-end.C:
			return
		case <-time.After(left):
		}
	}
}

// untilStalled returns how long until a client that reads nothing counts as stalled.
func (w *lineWriter) untilStalled(since time.Time, stall time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queued == w.wrote {
		return stall
	}
	if w.lastRead.After(since) {
		since = w.lastRead
	}
	return stall - time.Since(since)
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

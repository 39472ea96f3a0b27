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
	// pending is how much waits for a client on stdio before who writes waits too.
	pending = 64 << 10
	// pendingNotices bounds what is written by those who must not wait.
	pendingNotices = 1 << 20
)

// lineWriter writes lines in the order they are given. One goroutine writes to the client: what comes while it does
// goes out together.
type lineWriter struct {
	out  io.Writer
	done chan struct{} // closed when run has returned

	mu     sync.Mutex
	work   sync.Cond // there is something to write, or the end
	room   sync.Cond // there is less to write, or no hope
	buffer []byte
	spare  []byte
	queued int64 // bytes that were ever given, and written
	wrote  int64
	heard  time.Time // when the client last took something, or had nothing to take
	closed bool
	err    error
}

func newLineWriter(out io.Writer) *lineWriter {
	w := &lineWriter{out: out, done: make(chan struct{})}
	w.work.L, w.room.L = &w.mu, &w.mu
	return w
}

// append gives a line, waiting for room until ctx is done or wake finds it so, and returns where the line ends.
func (w *lineWriter) append(ctx context.Context, line []byte) (end int64, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.buffer) >= pending && w.err == nil && !w.closed && ctx.Err() == nil {
		w.room.Wait()
	}
	if w.err == nil && ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return w.give(line)
}

// notice gives a line without waiting. Where there is no room at all the line is dropped.
func (w *lineWriter) notice(line []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.buffer) < pendingNotices {
		_, _ = w.give(line)
	}
}

func (w *lineWriter) give(line []byte) (int64, error) {
	if w.closed && w.err == nil {
		return 0, io.ErrClosedPipe
	}
	if w.err != nil {
		return 0, w.err
	}
	if w.queued == w.wrote {
		w.heard = time.Now()
	}
	w.buffer = append(w.buffer, line...)
	w.queued += int64(len(line))
	w.work.Signal()
	return w.queued, nil
}

// flushed waits until the client's end has taken everything up to there.
func (w *lineWriter) flushed(ctx context.Context, end int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.wrote < end && w.err == nil && ctx.Err() == nil {
		w.room.Wait()
	}
}

// drained waits, for at most that long, until the client has read everything up to there.
func (w *lineWriter) drained(ctx context.Context, end int64, limit time.Duration) {
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

// wake has those who wait look at their contexts.
func (w *lineWriter) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.room.Broadcast()
}

// run writes until close, or an error of the client's end.
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

// write writes in pieces, so that it can be seen that a client reads a long line.
func (w *lineWriter) write(text []byte) {
	for piece := range slices.Chunk(text, pending) {
		_, err := w.out.Write(piece)
		if w.took(len(piece), err); err != nil {
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

func (w *lineWriter) took(n int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrote += int64(n)
	w.heard = time.Now()
	w.err = err
	w.room.Broadcast()
}

func (w *lineWriter) reuse(text []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spare = text[:0]
	if cap(text) > pendingNotices {
		w.spare = nil
	}
}

// close has what was given written, unless the client takes too long: see heed.
func (w *lineWriter) close(since time.Time, unheard time.Duration) {
	w.mu.Lock()
	w.closed = true
	w.work.Signal()
	w.room.Broadcast()
	w.mu.Unlock()
	w.heed(w.done, since, unheard)
}

// heed waits until done is closed, for parting at most, and no longer when the client has, since then, taken nothing of
// what is for it for as long as unheard.
func (w *lineWriter) heed(done <-chan struct{}, since time.Time, unheard time.Duration) {
	end, look := time.NewTimer(parting), time.NewTimer(w.hope(since, unheard))
	defer end.Stop()
	defer look.Stop()
	for {
		select {
		case <-done:
			return
		case <-end.C:
			return
		case <-look.C:
		}
		left := w.hope(since, unheard)
		if left <= 0 {
			return
		}
		look.Reset(left)
	}
}

// hope is how much longer a client that takes nothing is waited for.
func (w *lineWriter) hope(since time.Time, unheard time.Duration) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queued == w.wrote {
		return unheard
	}
	if w.heard.After(since) {
		since = w.heard
	}
	return unheard - time.Since(since)
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

// next returns the next line that is not blank, in memory of its own. errLong is about one line: the next can be read.
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

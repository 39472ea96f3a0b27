package git

import (
	"errors"
	"io"
)

// reportEvery is how many bytes pass between two reports of progress.
const reportEvery = 64 << 10

// meter counts what one source receives, in all its answers together, and keeps
// the first failure, which go-git may turn into mere text on its way up.
type meter struct {
	limit, done, reported int64
	refs                  int64 // while this is not 0, it is the limit: names are kept in memory
	progress              func(done, total int64)
	err                   error // the limit's, or that of a read
}

// metered is what a server sends.
type metered struct {
	io.ReadCloser
	meter *meter
}

func (r metered) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if over := r.meter.count(int64(n)); over != nil {
		return 0, over
	}
	if err != nil && !errors.Is(err, io.EOF) && r.meter.err == nil {
		r.meter.err = err
	}
	return n, err
}

func (m *meter) count(n int64) error {
	m.done += n
	switch {
	case m.refs > 0 && m.done > m.refs:
		m.err = exceeded("the names of branches and tags alone take more than %s; this cannot be read", bytesText(m.refs))
		return m.err
	case m.done > m.limit:
		m.err = exceeded("the repository is larger than the %s that may come; raise --max-download", bytesText(m.limit))
		return m.err
	}
	if m.done-m.reported >= reportEvery {
		m.flush()
	}
	return nil
}

func (m *meter) flush() {
	m.reported = m.done
	m.progress(m.done, 0)
}

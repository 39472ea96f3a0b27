package scan

import (
	"bytes"
	"io/fs"
	"sync"
)

const (
	memoryBytes = 2 << 20  // that are kept of all files together
	readAhead   = 32 << 10 // that are read of a file at least, so that it may be kept whole
)

// Memory is the files of a repository with what was read of them: the scan and the readers that come after it see a
// small file as it was when the first of them read it. Goroutines may share it.
type Memory struct {
	files fs.FS
	mu    sync.Mutex
	texts map[string][]byte // whole files, as they are
	bytes int
}

// Remember gives the files a memory.
func Remember(files fs.FS) *Memory { return &Memory{files: files, texts: map[string][]byte{}} }

// Open opens a file as it is now.
func (m *Memory) Open(name string) (fs.File, error) { return m.files.Open(name) }

// ReadLink gives where a link leads.
func (m *Memory) ReadLink(name string) (string, error) { return fs.ReadLink(m.files, name) }

// Lstat tells of a file or link.
func (m *Memory) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(m.files, name) }

// recall copies the first bytes of a file that is kept to buf; known tells whether it is.
func (m *Memory) recall(name string, limit int64, buf []byte) (data []byte, whole, known bool) {
	if m == nil {
		return nil, false, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	kept, known := m.texts[name]
	n := min(limit, int64(len(kept)))
	return append(buf[:0], kept[:n]...), n == int64(len(kept)), known
}

// keep takes the bytes of a whole file while there is room.
func (m *Memory) keep(name string, data []byte) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.texts[name]; !known && m.bytes+len(data) <= memoryBytes {
		m.texts[name] = bytes.Clone(data)
		m.bytes += len(data)
	}
}

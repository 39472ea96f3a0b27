package scan

import (
	"bytes"
	"io/fs"
	"sync"
)

const (
	memoryBytes = 3 << 20  // kept bytes of all files
	scanBytes   = 1 << 20  // kept bytes of files that the scan reads; later readers know better what is read again
	readAhead   = 32 << 10 // bytes that are read of a file at least, so that it may be kept completely
)

// Memory provides the files of a repository, with a record of each that was read completely, while there is room. The
// scan and later readers see such a file as it was when it was first read. It is safe for concurrent use.
type Memory struct {
	files   fs.FS
	mu      sync.Mutex
	records map[string]record
	bytes   int
}

// record holds the bytes of a file. They never change.
type record struct {
	data  []byte // raw bytes of the file
	plain bool   // Reader.Shown had nothing to change
}

// Remember returns a Memory of the files.
func Remember(files fs.FS) *Memory { return &Memory{files: files, records: map[string]record{}} }

// Open opens a file in its present state.
func (m *Memory) Open(name string) (fs.File, error) { return m.files.Open(name) }

// ReadLink returns the target of a link.
func (m *Memory) ReadLink(name string) (string, error) { return fs.ReadLink(m.files, name) }

// Lstat returns the info of a file or link.
func (m *Memory) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(m.files, name) }

// ahead returns how much to read of a file at least.
func (m *Memory) ahead() int64 {
	if m == nil {
		return 0
	}
	return readAhead
}

// record returns the record of a file.
func (m *Memory) record(name string) (r record, known bool) {
	if m == nil {
		return record{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, known = m.records[name]
	return r, known
}

// mark records that a file can be shown unchanged.
func (m *Memory) mark(name string) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, known := m.records[name]; known {
		r.plain = true
		m.records[name] = r
	}
}

// keep returns a permanent copy of the bytes of a whole file while there is room, and otherwise the bytes themselves.
func (m *Memory) keep(name string, data []byte, room int) []byte {
	if m == nil {
		return data
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, known := m.records[name]; known {
		return r.data
	}
	if m.bytes+len(data) > room {
		return data
	}
	data = bytes.Clone(data)
	m.records[name] = record{data: data}
	m.bytes += len(data)
	return data
}

package scan

import (
	"bytes"
	"io/fs"
	"sync"
)

const (
	memoryBytes = 3 << 20  // that are kept of all files together
	scanBytes   = 1 << 20  // of them for what the scan reads; the readers after it know better what is read again
	readAhead   = 32 << 10 // that are read of a file at least, so that it may be kept whole
)

// Memory is the files of a repository with a record of each that was read whole, while there is room: the scan and the
// readers after it see such a file as it was when the first of them read it. Goroutines may share it.
type Memory struct {
	files   fs.FS
	mu      sync.Mutex
	records map[string]record
	bytes   int
}

// record is what is known of a file's bytes. Nobody changes them.
type record struct {
	data  []byte // as they are in the file
	plain bool   // Reader.Shown had nothing to change
}

// Remember gives the files a memory.
func Remember(files fs.FS) *Memory { return &Memory{files: files, records: map[string]record{}} }

// Open opens a file as it is now.
func (m *Memory) Open(name string) (fs.File, error) { return m.files.Open(name) }

// ReadLink gives where a link leads.
func (m *Memory) ReadLink(name string) (string, error) { return fs.ReadLink(m.files, name) }

// Lstat tells of a file or link.
func (m *Memory) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(m.files, name) }

// ahead is how much to read of a file at least.
func (m *Memory) ahead() int64 {
	if m == nil {
		return 0
	}
	return readAhead
}

// record gives what is known of a file.
func (m *Memory) record(name string) (r record, known bool) {
	if m == nil {
		return record{}, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	r, known = m.records[name]
	return r, known
}

// mark records that a file can be shown as it is.
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

// keep gives a copy of the bytes of a whole file that stays, while there is room for so many; else the bytes.
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

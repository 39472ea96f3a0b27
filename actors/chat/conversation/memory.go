package conversation

import (
	"slices"
	"sync"
)

// NewMemory returns a Store in memory. It holds at most the given number of conversations, and forgets the oldest
// ones first.
func NewMemory(most int) *Store { return &Store{&memory{most: most, logs: map[string]*memoryLog{}}} }

// memory implements place in memory. It is safe for concurrent use.
type memory struct {
	most  int
	mu    sync.Mutex
	logs  map[string]*memoryLog
	order []string
}

// open also drops the oldest conversation if there are too many.
func (m *memory) open(id string, create bool) (journal, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.logs[id]
	if l == nil && !create {
		return nil, nil
	}
	if l == nil {
		if len(m.order) >= m.most {
			delete(m.logs, m.order[0])
			m.order = m.order[1:]
		}
		l = &memoryLog{}
		m.logs[id] = l
		m.order = append(m.order, id)
	}
	return l, nil
}

func (m *memory) ids() ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.order), nil
}

func (m *memory) remove(id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.logs, id)
	m.order = slices.DeleteFunc(m.order, func(other string) bool { return other == id })
	return nil
}

// memoryLog implements journal in memory.
type memoryLog struct {
	mu   sync.Mutex
	data []byte
}

func (l *memoryLog) after(bytes int64) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.data[bytes:]), nil
}

func (l *memoryLog) append(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.data = append(append(l.data, line...), '\n')
	return nil
}

func (l *memoryLog) hold() bool   { return false } // its turns end with the process, or when their time has passed
func (l *memoryLog) sync() error  { return nil }
func (l *memoryLog) Close() error { return nil }

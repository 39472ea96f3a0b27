package conversation

import (
	"crypto/rand"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// maxBytes bounds the size of a conversation: a larger one accepts no further turn.
const maxBytes = 64 << 20

// Store holds conversations. It is safe for concurrent use, and several processes may share a folder.
type Store struct{ place place }

// place is where the logs of a Store are.
type place interface {
	// open opens a log. If it does not exist, open makes it or, without create, returns nil.
	open(id string, create bool) (journal, error)
	ids() ([]string, error)
	remove(id string) error
}

// journal is the log of one conversation.
type journal interface {
	// after returns the content after the first bytes.
	after(bytes int64) ([]byte, error)
	append(line []byte) error
	// hold takes the log's lock until Close. It returns false if another process holds the lock, or if there are no
	// locks.
	hold() bool
	sync() error
	Close() error
}

// NewID returns an id for a new conversation. Ids sort by their time.
func NewID() string {
	const digits = "0123456789abcdefghjkmnpqrstvwxyz"
	var stamp [9]byte
	for i, ms := len(stamp)-1, time.Now().UnixMilli(); i >= 0; i, ms = i-1, ms/32 {
		stamp[i] = digits[ms%32]
	}
	return "c_" + string(stamp[:]) + strings.ToLower(rand.Text())[:16]
}

var legalID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// CheckID returns an invalid_input error for a text that cannot be an id.
func CheckID(id string) error {
	if len(id) <= 64 && legalID.MatchString(id) && !strings.HasSuffix(id, ".") {
		return nil
	}
	return messages.InvalidInput("the context %.80q must have 1 to 64 letters of ASCII, digits, -, _ and . "+
		"and begin with a letter or digit", id)
}

// Beginning describes the beginning of a turn.
type Beginning struct {
	// Owner names the turn, for example its run. An owner that begins again starts its turn from the beginning.
	Owner   string
	Message string // the user's message
	// System is the system prompt. If it is empty, the earlier turn's prompt applies.
	System string
	// Folder is the user's working folder, for lists; "" means the earlier turn's folder.
	Folder string
	// Over names the owner of a turn that will never end, because its run has ended. This turn may take over.
	Over string
	// Timeout is the time after which another turn may take over; 0 means 5 minutes.
	Timeout time.Duration
}

// Begin begins a turn, and makes the conversation if needed. The error is a [BusyError] while another turn has the
// conversation.
func (s *Store) Begin(id string, b Beginning) (*Turn, error) {
	if err := CheckID(id); err != nil {
		return nil, err
	}
	j, err := s.place.open(id, true)
	if err != nil {
		return nil, err
	}
	t := &Turn{id: id, journal: j}
	if err := t.begin(b); err != nil {
		j.Close()
		return nil, err
	}
	return t, nil
}

// write appends a record with the present time.
func write(j journal, r record) error {
	r.At = time.Now().UTC()
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return j.append(line)
}

// BusyError says that another turn has the conversation. Its code is conflict.
type BusyError struct {
	Context string
	Owner   string        // of the turn
	Age     time.Duration // of the turn
}

func (c *state) busyError(id string) error {
	return &BusyError{Context: id, Owner: c.owner.Owner, Age: time.Since(c.begun)}
}

// Error says what to do.
func (e *BusyError) Error() string { return e.Unwrap().Error() }

// Unwrap returns the error with its code.
func (e *BusyError) Unwrap() error {
	return messages.Errorf(messages.CodeConflict, "the conversation %s is in use by %s, which began %s ago; "+
		"wait for its end, or cancel it", e.Context, e.Owner, e.Age.Round(time.Second))
}

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

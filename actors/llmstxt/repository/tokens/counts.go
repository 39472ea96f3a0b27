package tokens

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sort"
	"sync"
)

// Counts remembers the number of tokens of texts. Texts that an earlier run counted need no vocabulary. The zero
// value is ready for use. It is safe for concurrent use.
type Counts struct {
	// Earlier returns the Bytes of another Counts. It is called when the first text is counted, and may be nil.
	Earlier func() []byte

	mu    sync.Mutex
	known []byte // records, sorted
	read  bool   // Earlier was called
	fresh map[digest]uint32
}

// digest is a part of a text's SHA-256, long enough to distinguish texts.
type digest [12]byte

const (
	recordBytes = len(digest{}) + 4 // with the number of tokens
	mostRecords = 1 << 16
)

// Of returns the number of tokens of the text.
func (c *Counts) Of(text []byte) int {
	sum := sha256.Sum256(text)
	of := digest(sum[:])
	if n, known := c.find(of); known {
		return n
	}
	n := Count(string(text))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fresh[of] = uint32(n)
	return n
}

func (c *Counts) find(of digest) (n int, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.read {
		c.read, c.fresh = true, map[digest]uint32{}
		if c.Earlier != nil {
			c.known = c.Earlier()
		}
	}
	if n, known := c.fresh[of]; known {
		return int(n), true
	}
	i, known := sort.Find(len(c.known)/recordBytes, func(i int) int {
		return bytes.Compare(of[:], c.record(i)[:len(of)])
	})
	if !known {
		return 0, false
	}
	return int(binary.LittleEndian.Uint32(c.record(i)[len(of):])), true
}

func (c *Counts) record(i int) []byte { return c.known[i*recordBytes : (i+1)*recordBytes] }

// Bytes returns the known counts, for Earlier of another Counts; nil if there is nothing new. If there are too many,
// earlier counts are dropped.
func (c *Counts) Bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.fresh) == 0 {
		return nil
	}
	var records [][]byte
	if n := len(c.known) / recordBytes; n+len(c.fresh) <= mostRecords {
		for i := range n {
			records = append(records, c.record(i))
		}
	}
	for of, n := range c.fresh {
		records = append(records, binary.LittleEndian.AppendUint32(of[:], n))
	}
	slices.SortFunc(records, bytes.Compare)
	return bytes.Join(records, nil)
}

// Counter counts the tokens of what is written to it. It is for one goroutine at a time.
type Counter struct {
	Counts *Counts // counts of the parts
	count  int
	held   []byte
}

// Write never fails.
func (c *Counter) Write(text []byte) (int, error) {
	known := len(c.held)
	c.held = append(c.held, text...)
	if end := boundary(c.held, known); end > 0 {
		c.count += c.Counts.Of(c.held[:end])
		c.held = append(c.held[:0], c.held[end:]...)
	}
	return len(text), nil
}

// Count returns the number of tokens of everything that was written.
func (c *Counter) Count() int { return c.count + c.Counts.Of(c.held) }

// boundary returns the beginning of the last line that begins at from or later, or 0.
func boundary(text []byte, from int) int {
	for i := len(text) - 1; i >= max(from, 1); i-- {
		if text[i-1] == '\n' && beginsLine(text[i:]) {
			return i
		}
	}
	return 0
}

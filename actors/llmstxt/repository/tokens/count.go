package tokens

import (
	"hash/maphash"
	"math"
	"sync"
)

// Count returns the number of tokens in the text. Names of special tokens such as <|endoftext|> count as text. The
// time is proportional to n log n of the longest word, and to the number of words. It is safe for concurrent use.
func Count(text string) int {
	c := counters.Get().(*counter)
	defer counters.Put(c)
	n := 0
	for text != "" {
		end := line(text)
		n += c.line(text[:end])
		text = text[end:]
	}
	return n
}

// line counts the tokens of a line, unless the vocabulary has its hash: sources repeat lines, and llms-ctx.txt
// repeats those of llms-full.txt.
func (c *counter) line(s string) int {
	h := maphash.String(c.table.seed, s)
	at := &c.table.lines[h%uint64(len(c.table.lines))]
	known := at.Load()
	if n := int(known % lineTokens); n > 0 && known-uint64(n) == h-h%lineTokens {
		return n
	}
	n := c.pieces(s)
	if n < lineTokens {
		at.Store(h - h%lineTokens + uint64(n))
	}
	return n
}

func (c *counter) pieces(s string) int {
	n := 0
	for s != "" {
		end := piece(s)
		n += c.count(s[:end])
		s = s[end:]
	}
	return n
}

// Load prepares the table of tokens, as the first count does otherwise.
func Load() { table() }

var counters = sync.Pool{New: func() any { return &counter{table: table()} }}

// counter merges the bytes of one piece after the other. Its slices are reused.
type counter struct {
	table *vocabulary
	parts []part
	heap  []uint64
}

// part is a part of the piece, and begins at its own index.
type part struct {
	before, next int32 // where the neighbours begin
	pair         rank  // rank of the token that this part and the next would make
}

// count returns the number of tokens of a piece. It merges the pair with the lowest rank first; among equals, the
// leftmost.
func (c *counter) count(s string) int {
	if c.table.rank(s) != none {
		return 1
	}
	c.heap, c.parts = c.heap[:0], c.parts[:0]
	for i := range int32(len(s)) {
		c.parts = append(c.parts, part{before: i - 1, next: i + 1})
	}
	for i := range c.parts {
		c.look(s, int32(i))
	}
	n := len(s)
	for len(c.heap) > 0 {
		least := c.pop()
		at := int32(least & math.MaxUint32)
		if c.parts[at].pair != rank(least>>32) {
			continue // a neighbour was merged meanwhile
		}
		gone := c.parts[at].next
		c.parts[gone].pair = none
		c.parts[at].next = c.parts[gone].next
		if after := c.parts[at].next; int(after) < len(s) {
			c.parts[after].before = at
		}
		n--
		c.look(s, at)
		if before := c.parts[at].before; before >= 0 {
			c.look(s, before)
		}
	}
	return n
}

// look finds the token that a part makes with the next part.
func (c *counter) look(s string, at int32) {
	p := &c.parts[at]
	p.pair = none
	if int(p.next) >= len(s) {
		return
	}
	if end := c.parts[p.next].next; end-at <= longest {
		if p.pair = c.table.rank(s[at:end]); p.pair != none {
			c.push(uint64(p.pair)<<32 | uint64(at))
		}
	}
}

func (c *counter) push(v uint64) {
	c.heap = append(c.heap, v)
	for i := len(c.heap) - 1; i > 0; {
		up := (i - 1) / 2
		if c.heap[up] <= v {
			break
		}
		c.heap[i], c.heap[up], i = c.heap[up], v, up
	}
}

func (c *counter) pop() uint64 {
	least, last := c.heap[0], len(c.heap)-1
	v := c.heap[last]
	c.heap = c.heap[:last]
	i := 0
	for {
		down := 2*i + 1
		if down >= last {
			break
		}
		if down+1 < last && c.heap[down+1] < c.heap[down] {
			down++
		}
		if v <= c.heap[down] {
			break
		}
		c.heap[i], i = c.heap[down], down
	}
	if last > 0 {
		c.heap[i] = v
	}
	return least
}

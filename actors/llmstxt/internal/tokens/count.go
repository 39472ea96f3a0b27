package tokens

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"hash/maphash"
	"io"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
)

// Count returns the number of tokens in the text. Names of special tokens such as <|endoftext|> count as text. The
// time is proportional to n log n of the longest word, and to the number of words. It is safe for concurrent use.
func Count(text string) int { return count(context.Background(), text) }

// count is Count that ends early, with any number, when the context does.
func count(ctx context.Context, text string) int {
	c := counters.Get().(*counter)
	defer counters.Put(c)
	c.ctx, c.steps = ctx, 0
	n := 0
	for text != "" && !c.isOver() {
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
	if n < lineTokens && !c.isOver() {
		at.Store(h - h%lineTokens + uint64(n))
	}
	return n
}

// pieces is line without what the vocabulary remembers.
func (c *counter) pieces(s string) int {
	n := 0
	for s != "" && !c.isOver() {
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
	ctx   context.Context
	steps int // pieces and merges, until the context ended: then -1
}

// heeded is after how many steps the context is looked at.
const heeded = 10_000

// isOver counts a step, and reports whether the context has ended.
func (c *counter) isOver() bool {
	if c.steps >= 0 {
		if c.steps++; c.steps%heeded == 0 && c.ctx.Err() != nil {
			c.steps = -1
		}
	}
	return c.steps < 0
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
	for len(c.heap) > 0 && !c.isOver() {
		least := c.pop()
		pos := int32(least & math.MaxUint32)
		if c.parts[pos].pair != rank(least>>32) {
			continue // a neighbour was merged meanwhile
		}
		gone := c.parts[pos].next
		c.parts[gone].pair = none
		c.parts[pos].next = c.parts[gone].next
		if after := c.parts[pos].next; int(after) < len(s) {
			c.parts[after].before = pos
		}
		n--
		c.look(s, pos)
		if before := c.parts[pos].before; before >= 0 {
			c.look(s, before)
		}
	}
	return n
}

// look finds the token that a part makes with the next part.
func (c *counter) look(s string, pos int32) {
	p := &c.parts[pos]
	p.pair = none
	if int(p.next) >= len(s) {
		return
	}
	if end := c.parts[p.next].next; end-pos <= longest {
		if p.pair = c.table.rank(s[pos:end]); p.pair != none {
			c.push(uint64(p.pair)<<32 | uint64(pos))
		}
	}
}

// push adds a pair to the heap: its rank in the high bits, so that it counts first, and its place in the low ones.
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

// pop removes the least value of the heap, which must not be empty.
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

// packed has the stems in the order of their texts, a stem being a token without a space before it, as six columns. Of each
// stem it has a byte that says how many bytes it shares with the stem before, and two bits: whether it is a token alone (1),
// after a space (2) or both (3). Then of each token 18 bits of its rank: the lowest byte, the next one and the highest bits.
// Four pairs of bits share a byte. The last column has the ends of the stems, each with a byte 0xff after it, which begins
// the last end and is in no other.
//
//go:embed o200k.tokens.gz
var packed string

const (
	tokens   = 199_998 // in the table, without special tokens
	stems    = 171_752
	longest  = 128       // bytes of a token
	textual  = 1_257_388 // bytes of all stems, and of the spaces before them
	unpacked = 1_203_201 // bytes of the table
)

// rank is a token's number. Of two pairs, the one whose token has the lower rank is merged first.
type rank = uint32

const none rank = 1<<32 - 1

// vocabulary finds tokens by their text. It is a hash table with open addressing, which takes a third of a map's
// memory. A used slot holds, from its lowest bit on: the rank plus one (18 bits), the position of the token's text
// (21), its length minus one (7), and the highest bits of its hash (18). It is safe for concurrent use.
type vocabulary struct {
	seed  maphash.Seed
	text  string
	slots [1 << 18]uint64
	// lines remembers lines that were counted last: the highest 49 bits of a line's hash, and its tokens.
	lines [lineTokens]atomic.Uint64
}

const lineTokens = 1 << 15 // greater than the tokens of any line in the table

// table unpacks and hashes the vocabulary when it is first used: 4 MB, in about 20 milliseconds.
var table = sync.OnceValue(func() *vocabulary {
	listed := unpack()
	var columns [5]string
	for i, n := range []int{stems, (stems + 3) / 4, tokens, tokens, (tokens + 3) / 4} {
		columns[i], listed = listed[:n], listed[n:]
	}
	v := &vocabulary{seed: maphash.MakeSeed()}
	clear(v.slots[:]) // a page of memory that is read before it is written would be copied
	clear(v.lines[:])
	var text strings.Builder
	text.Grow(textual)
	token, before := 0, 0
	for i := range stems {
		end, kind := 1+strings.IndexByte(listed[1:], 0xff), columns[1][i/4]>>(i%4*2)&3
		if kind&2 != 0 {
			text.WriteByte(' ')
		}
		stem := text.Len()
		text.WriteString(text.String()[before : before+int(columns[0][i])])
		text.WriteString(listed[:end])
		for space := range 2 {
			if kind>>space&1 == 0 {
				continue
			}
			pos := stem - space
			h := maphash.String(v.seed, text.String()[pos:])
			slot := h % uint64(len(v.slots))
			for v.slots[slot] != 0 {
				slot = (slot + 1) % uint64(len(v.slots))
			}
			rank := uint64(columns[2][token]) | uint64(columns[3][token])<<8 | uint64(columns[4][token/4]>>(token%4*2)&3)<<16
			v.slots[slot] = h>>46<<46 | uint64(text.Len()-pos-1)<<39 | uint64(pos)<<18 | (rank + 1)
			token++
		}
		listed, before = listed[end+1:], stem
	}
	v.text = text.String()
	return v
})

// unpack returns the columns.
func unpack() string {
	var text strings.Builder
	text.Grow(unpacked)
	z, err := gzip.NewReader(strings.NewReader(packed))
	if err == nil {
		_, err = io.Copy(&text, z)
	}
	if err != nil {
		panic(err) // the program was built with a broken table
	}
	return text.String()
}

// rank returns the rank of the token with the text, or none.
func (v *vocabulary) rank(s string) rank {
	h := maphash.String(v.seed, s)
	for slot := h % uint64(len(v.slots)); ; slot = (slot + 1) % uint64(len(v.slots)) {
		token := v.slots[slot]
		if token == 0 {
			return none
		}
		if token>>46 != h>>46 || int(token>>39&127)+1 != len(s) {
			continue
		}
		if pos := int(token >> 18 & (1<<21 - 1)); v.text[pos:pos+len(s)] == s {
			return rank(token&(1<<18-1)) - 1
		}
	}
}

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

// Of returns the number of tokens of the text. If the context ends, it returns any number.
func (c *Counts) Of(ctx context.Context, text []byte) int {
	sum := sha256.Sum256(text)
	of := digest(sum[:])
	if n, known := c.find(of); known {
		return n
	}
	n := count(ctx, string(text))
	c.mu.Lock()
	defer c.mu.Unlock()
	if ctx.Err() == nil {
		c.fresh[of] = uint32(n)
	}
	return n
}

// find returns the count of a text that is known. The first call asks Earlier.
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
	Context context.Context
	Counts  *Counts // counts of the parts
	count   int
	held    []byte
}

// Write fails only if the context has ended.
func (c *Counter) Write(text []byte) (int, error) {
	known := len(c.held)
	c.held = append(c.held, text...)
	if end := boundary(c.held, known); end > 0 {
		c.count += c.Counts.Of(c.Context, c.held[:end])
		c.held = append(c.held[:0], c.held[end:]...)
	}
	return len(text), context.Cause(c.Context)
}

// Count returns the number of tokens of everything that was written.
func (c *Counter) Count() int { return c.count + c.Counts.Of(c.Context, c.held) }

// boundary returns the beginning of the last line that begins at from or later, or 0.
func boundary(text []byte, from int) int {
	for i := len(text) - 1; i >= max(from, 1); i-- {
		if text[i-1] == '\n' && beginsLine(text[i:]) {
			return i
		}
	}
	return 0
}

package tokens

import (
	"compress/gzip"
	_ "embed"
	"hash/maphash"
	"io"
	"strings"
	"sync"
	"sync/atomic"
)

// packed has two parts: the lengths of all tokens, a byte each and ordered by rank, and their text.
//
//go:embed o200k.tokens.gz
var packed string

const (
	tokens   = 199_998   // in the table, without special tokens
	longest  = 128       // bytes of a token
	unpacked = 1_597_668 // bytes of the table
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
	v := &vocabulary{seed: maphash.MakeSeed(), text: listed[tokens:]}
	clear(v.slots[:]) // a page of memory that is read before it is written would be copied
	clear(v.lines[:])
	at := 0
	for i, n := range []byte(listed[:tokens]) {
		h := maphash.String(v.seed, v.text[at:at+int(n)])
		slot := h % uint64(len(v.slots))
		for v.slots[slot] != 0 {
			slot = (slot + 1) % uint64(len(v.slots))
		}
		v.slots[slot] = h>>46<<46 | uint64(n-1)<<39 | uint64(at)<<18 | uint64(i+1)
		at += int(n)
	}
	return v
})

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
		if at := int(token >> 18 & (1<<21 - 1)); v.text[at:at+len(s)] == s {
			return rank(token&(1<<18-1)) - 1
		}
	}
}

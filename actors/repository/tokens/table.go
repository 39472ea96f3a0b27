package tokens

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"io"
	"sync"
)

// compressed is two parts, deflated: the lengths of all tokens, a byte each and ordered by rank, and their text.
//
//go:embed o200k.deflate
var compressed []byte

const (
	tokens  = 199_998 // in the table, special tokens left out
	longest = 128     // bytes of a token
)

// rank is a token's number. Of two pairs the one that makes the token of lower rank is merged first.
type rank = uint32

const none rank = 1<<32 - 1

// table inflates the table when somebody counts for the first time: about 10 MB.
var table = sync.OnceValue(func() map[string]rank {
	inflated, err := io.ReadAll(flate.NewReader(bytes.NewReader(compressed)))
	if err != nil {
		panic("tokens: the table is broken: " + err.Error())
	}
	lengths, text := inflated[:tokens], string(inflated[tokens:])
	ranks := make(map[string]rank, tokens)
	for i, n := range lengths {
		ranks[text[:n]], text = rank(i), text[n:]
	}
	return ranks
})

package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"log"
	"maps"
	"os"
	"slices"

	"github.com/tiktoken-go/tokenizer/codec"
)

func main() {
	encoding := codec.NewO200kBase()
	ranks := map[string]int{}
	for n := 0; ; n++ {
		token, err := encoding.Decode([]uint{uint(n)})
		if err != nil {
			break // the special tokens follow
		}
		ranks[token] = n
	}
	var columns [4][]byte
	var ends []byte
	before := ""
	for _, token := range slices.Sorted(maps.Keys(ranks)) {
		shared := 0
		for shared < min(len(before), len(token)) && before[shared] == token[shared] {
			shared++
		}
		rank := ranks[token]
		for i, b := range []int{shared, rank, rank >> 8, rank >> 16} {
			columns[i] = append(columns[i], byte(b))
		}
		ends, before = append(append(ends, token[shared:]...), 0xff), token
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(append(bytes.Join(columns[:], nil), ends...))
	}
	if err := errors.Join(err, z.Close(), os.WriteFile(os.Args[1], packed.Bytes(), 0o644)); err != nil {
		log.Fatal(err)
	}
}

package main

import (
	"bytes"
	"errors"
	"log"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"

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
	kinds := map[string]int{} // of each stem: 1 is a token alone, 2 one after a space
	for token := range ranks {
		if stem, spaced := strings.CutPrefix(token, " "); spaced && stem != "" {
			kinds[stem] |= 2
		} else {
			kinds[token] |= 1
		}
	}
	var columns [5][]byte
	var ends []byte
	before := ""
	for _, stem := range slices.Sorted(maps.Keys(kinds)) {
		shared := 0
		for shared < min(len(before), len(stem)) && before[shared] == stem[shared] {
			shared++
		}
		columns[0], columns[1] = append(columns[0], byte(shared)), append(columns[1], byte(kinds[stem]))
		for i, token := range []string{stem, " " + stem} {
			if kinds[stem]>>i&1 == 0 {
				continue
			}
			for j := range 3 {
				columns[2+j] = append(columns[2+j], byte(ranks[token]>>(8*j)))
			}
		}
		ends, before = append(append(ends, stem[shared:]...), 0xff), stem
	}
	columns[1], columns[4] = packed(columns[1]), packed(columns[4])
	table := strings.TrimSuffix(os.Args[1], ".gz")
	err := os.WriteFile(table, append(bytes.Join(columns[:], nil), ends...), 0o644)
	if err == nil {
		err = exec.Command("zopfli", "--i500", table).Run() // it writes the table with .gz
	}
	if err := errors.Join(err, os.Remove(table)); err != nil {
		log.Fatal(err)
	}
}

// packed returns the pairs of bits with four in a byte.
func packed(pairs []byte) []byte {
	bits := make([]byte, (len(pairs)+3)/4)
	for i, pair := range pairs {
		bits[i/4] |= pair << (i % 4 * 2)
	}
	return bits
}

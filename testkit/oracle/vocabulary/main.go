package main

import (
	"bytes"
	"log"
	"os"

	"github.com/tiktoken-go/tokenizer/codec"
)

func main() {
	encoding := codec.NewO200kBase()
	var lengths, text bytes.Buffer
	for n := uint(0); ; n++ {
		token, err := encoding.Decode([]uint{n})
		if err != nil {
			break // the special tokens follow
		}
		lengths.WriteByte(byte(len(token)))
		text.WriteString(token)
	}
	if err := os.WriteFile(os.Args[1], append(lengths.Bytes(), text.Bytes()...), 0o644); err != nil {
		log.Fatal(err)
	}
}

package main

import (
	"bytes"
	"compress/gzip"
	"errors"
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
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		_, err = z.Write(append(lengths.Bytes(), text.Bytes()...))
	}
	if err := errors.Join(err, z.Close(), os.WriteFile(os.Args[1], packed.Bytes(), 0o644)); err != nil {
		log.Fatal(err)
	}
}

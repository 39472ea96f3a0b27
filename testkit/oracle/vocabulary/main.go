package main

import (
	"bytes"
	"compress/flate"
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
	var table bytes.Buffer
	w, err := flate.NewWriter(&table, flate.BestCompression)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := lengths.WriteTo(w); err != nil {
		log.Fatal(err)
	}
	if _, err := text.WriteTo(w); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[1], table.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}

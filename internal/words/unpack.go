package words

import (
	"compress/gzip"
	"encoding/binary"
	"io"
	"strings"
)

// Unpack returns the text of a file that is part of the program, compressed by gzip.
func Unpack(packed string) string {
	var text strings.Builder
	z, err := gzip.NewReader(strings.NewReader(packed))
	if err == nil {
		text.Grow(int(binary.LittleEndian.Uint32([]byte(packed[len(packed)-4:])))) // gzip ends with the length
		_, err = io.Copy(&text, z)
	}
	if err != nil {
		panic(err) // the program was built with a broken file
	}
	return text.String()
}

package packed

import (
	"compress/gzip"
	"io"
	"strings"
)

// Text unpacks an embedded file. It panics if the data are no gzip: they are part of the program.
func Text(data string) []byte {
	r, err := gzip.NewReader(strings.NewReader(data))
	var text []byte
	if err == nil {
		text, err = io.ReadAll(r)
	}
	if err != nil {
		panic(err)
	}
	return text
}

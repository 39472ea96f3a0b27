package fatal

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
)

// ender is a testing.TB or a *rapid.T.
type ender interface {
	Helper()
	Fatal(args ...any)
}

// IfError ends the test with the error, if there is one.
func IfError(t ender, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// IfLacking ends the test if the text lacks one of the words.
func IfLacking(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Fatalf("%q is not in %s", word, text)
		}
	}
}

// Packed returns the text as gzip, for package packed.
func Packed(t ender, text []byte) []byte {
	t.Helper()
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	IfError(t, err)
	_, err = w.Write(text)
	IfError(t, errors.Join(err, w.Close()))
	return packed.Bytes()
}

package lmstxt

import "testing"

// A window is the same characters, however the text comes.
func FuzzWindow(f *testing.F) {
	f.Add([]byte("жито, 花 and 🌱"), 3, 4, 1)
	f.Add([]byte("\xff\xfe\xf0\x9f"), 0, 9, 3)
	f.Add([]byte("a\xe2\x82"), 1, 1, 2)
	f.Add([]byte(""), 5, 1, 1)
	f.Fuzz(func(t *testing.T, data []byte, offset, limit, piece int) {
		offset, limit, piece = max(offset, 0), max(limit, 1), max(piece, 1)
		w := &window{offset: offset, limit: limit}
		for rest := data; len(rest) > 0; {
			n := min(piece, len(rest))
			if got, err := w.Write(rest[:n]); got != n || err != nil {
				t.Fatalf("%d of %d bytes were taken: %v", got, n, err)
			}
			rest = rest[n:]
		}
		runes := []rune(string(data)) // one for each byte that is not UTF-8, too
		from := min(offset, len(runes))
		to := from + min(limit, len(runes)-from)
		want := text{Content: string(runes[from:to]), Truncated: to < len(runes) && offset < len(runes), TotalChars: len(runes)}
		if got := w.end(); got != want {
			t.Errorf("%q from %d, %d at most, in pieces of %d: %+v, want %+v", data, offset, limit, piece, got, want)
		}
	})
}

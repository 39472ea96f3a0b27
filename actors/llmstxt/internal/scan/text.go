package scan

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding is the encoding of a file's text.
type encoding uint8

const (
	noText   encoding = iota
	utf8Text          // possibly with a few invalid bytes
	utf16LE           // with a byte order mark
	utf16BE
	latin1 // Windows-1252, which includes the text characters of Latin-1
)

// sniff determines the encoding by the first bytes, which may be the whole file.
func sniff(head []byte, whole bool) encoding {
	switch {
	case bytes.HasPrefix(head, []byte("version https://git-lfs.")):
		return noText
	case bytes.HasPrefix(head, []byte("\xFF\xFE")):
		return sniffUTF16(head, utf16LE)
	case bytes.HasPrefix(head, []byte("\xFE\xFF")):
		return sniffUTF16(head, utf16BE)
	case bytes.IndexByte(head, 0) >= 0:
		return noText
	}
	if !whole {
		head = trimRune(head)
	}
	if utf8.Valid(head) {
		return utf8Text
	}
	return sniffBytes(head)
}

// sniffUTF16 refuses text with NUL or many unpaired surrogates, because the mark may be chance.
func sniffUTF16(head []byte, e encoding) encoding {
	bad, text := 0, e.utf16(head)
	for _, r := range text {
		if r == 0 {
			return noText
		}
		if r == utf8.RuneError {
			bad++
		}
	}
	if bad > 1+len(text)/100 {
		return noText
	}
	return e
}

// sniffBytes distinguishes damaged UTF-8 and western European encodings, in which letters beyond ASCII are single,
// from binary data and all other encodings, which cannot be decoded.
func sniffBytes(head []byte) encoding {
	var bad, good, control, run, longest int
	western := true
	for i := 0; i < len(head); {
		c := head[i]
		r, n := utf8.DecodeRune(head[i:])
		switch {
		case c < utf8.RuneSelf:
			run = 0
			if c < ' ' && !bytes.ContainsRune([]byte("\t\n\v\f\r\b\x1b"), r) {
				control++
			}
		case r == utf8.RuneError && n == 1:
			bad++
			run++
			western = western && windows1252(c) != utf8.RuneError
		default:
			good++
			run += n
		}
		longest = max(longest, run)
		i += n
	}
	switch {
	case control*100 > len(head):
		return noText
	case good > 4*bad:
		return utf8Text
	case western && longest <= 3 && bad*5 < len(head):
		return latin1
	case bad*100 <= len(head):
		return utf8Text
	}
	return noText
}

// decode returns valid UTF-8 without a byte order mark, with lines that end in "\n". It may change data and return a
// part of it. If data is not whole, a character that is cut at its end is dropped.
func (e encoding) decode(data []byte, whole bool) []byte {
	switch e {
	case utf16LE, utf16BE:
		data = []byte(string(e.utf16(data)))
	case latin1:
		data = fromLatin1(data)
	default:
		if !whole {
			data = trimRune(data)
		}
		data = bytes.TrimPrefix(data, []byte("\uFEFF"))
		if !utf8.Valid(data) {
			data = []byte(string([]rune(string(data))))
		}
	}
	if bytes.IndexByte(data, '\r') >= 0 {
		data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	}
	return data
}

// utf16 decodes what follows the byte order mark.
func (e encoding) utf16(data []byte) []rune {
	var order binary.ByteOrder = binary.LittleEndian
	if e == utf16BE {
		order = binary.BigEndian
	}
	units := make([]uint16, 0, len(data)/2)
	for i := 2; i+1 < len(data); i += 2 {
		units = append(units, order.Uint16(data[i:]))
	}
	return utf16.Decode(units)
}

func fromLatin1(data []byte) []byte {
	text := make([]byte, 0, len(data)+len(data)/8)
	for _, c := range data {
		text = utf8.AppendRune(text, windows1252(c))
	}
	return text
}

// windows1252 decodes a byte. It differs from Latin-1 where that has control characters.
func windows1252(c byte) rune {
	if c < 0x80 || c >= 0xA0 {
		return rune(c)
	}
	return [32]rune{
		'€', utf8.RuneError, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', utf8.RuneError, 'Ž', utf8.RuneError,
		utf8.RuneError, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', utf8.RuneError, 'ž', 'Ÿ',
	}[c-0x80]
}

// trimRune drops a character that is cut at the end.
func trimRune(data []byte) []byte {
	for cut := 1; cut < utf8.UTFMax && cut <= len(data); cut++ {
		if end := len(data) - cut; utf8.RuneStart(data[end]) {
			if !utf8.FullRune(data[end:]) {
				return data[:end]
			}
			return data
		}
	}
	return data
}

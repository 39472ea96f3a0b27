package redact

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	again     = 8  // greatest number of nested escapes that are decoded
	entityMax = 10 // greatest number of bytes of an HTML entity for one character
)

// decode decodes the first byte of the text, which may be escaped for JSON, HTML, Markdown or a URL. It returns the
// byte and how many bytes of the text it takes. cut: the text ends inside an escape.
func decode(text string) (c byte, n int, cut bool) {
	switch text[0] {
	case '\\':
		return backslash(text)
	case '%':
		return percent(text)
	case '&':
		return entity(text)
	}
	return text[0], 1, false
}

// backslash decodes an escape of JSON or Markdown, with any number of backslashes before it.
func backslash(text string) (c byte, n int, cut bool) {
	run := 1
	for run < len(text) && run < again && text[run] == '\\' {
		run++
	}
	if run == len(text) {
		return '\\', run, true
	}
	switch next := text[run]; {
	case next == 'u':
		digits := text[run+1:]
		if c, ok := hex(strings.TrimPrefix(digits, "00")); ok && strings.HasPrefix(digits, "00") {
			return c, run + 5, false
		}
		cut = strings.HasPrefix("00", digits) || len(digits) == 3 && digits[:2] == "00" && isHex(digits[2])
	case next == 'x':
		digits := text[run+1:]
		if c, ok := hex(digits); ok {
			return c, run + 3, false
		}
		cut = digits == "" || len(digits) == 1 && isHex(digits[0])
	case next > ' ' && next < utf8.RuneSelf && !isAlphanumeric(next):
		return next, run + 1, false
	}
	return '\\', run, cut
}

// percent decodes a URL's escape, which may itself be escaped several times.
func percent(text string) (c byte, n int, cut bool) {
	pos := 1
	for pos < 2*again && len(text) >= pos+4 && text[pos:pos+2] == "25" && isHex(text[pos+2]) && isHex(text[pos+3]) {
		pos += 2
	}
	digits := text[pos:]
	if len(digits) == 0 || len(digits) == 1 && isHex(digits[0]) ||
		digits == "25" || len(digits) == 3 && digits[:2] == "25" && isHex(digits[2]) {
		return '%', 1, true
	}
	if c, ok := hex(digits); ok {
		return c, pos + 2, false
	}
	return '%', 1, false
}

// entity decodes an HTML entity of a single byte.
func entity(text string) (c byte, n int, cut bool) {
	for end := 1; end < entityMax; end++ {
		switch {
		case end == len(text):
			return '&', 1, true
		case text[end] == ';':
			if plain := html.UnescapeString(text[:end+1]); len(plain) == 1 {
				return plain[0], end + 1, false
			}
			return '&', 1, false
		case text[end] != '#' && !isAlphanumeric(text[end]):
			return '&', 1, false
		}
	}
	return '&', 1, false
}

// hex decodes two digits.
func hex(text string) (byte, bool) {
	if len(text) < 2 {
		return 0, false
	}
	n, err := strconv.ParseUint(text[:2], 16, 8)
	return byte(n), err == nil
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

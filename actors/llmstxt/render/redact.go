package render

import (
	"regexp"
	"strings"
)

const redacted = "[redacted]"

// redactor replaces what has the shape of a secret. Each shape begins with a rare word; one pass over the text looks
// for the first three bytes of all words at once, and a shape's expression is compiled when its word is met, and tried
// there alone.
type redactor struct {
	shapes []shape
	begins [1 << 13]uint8 // a bit for the mark of each three bytes that a word begins with
	// endless: the text at hand has no end for a shape any more. It is looked for once, not from each beginning on.
	endless bool
}

// mark is the same for the same three bytes, the last of them in the lowest bits, and rarely for others.
func mark(three uint32) uint16 { return uint16(three ^ three>>11) }

func isMarked(bits *[1 << 13]uint8, m uint16) bool { return bits[m>>3]&(1<<(m&7)) != 0 }

type shape struct {
	word    string // what the shape begins with
	pattern string // what follows; a first group is kept, and so is a second, which ends it
	end     string // ends the shape, however far away; where there is none, rest is what follows
	rest    string
	inside  bool // may follow a letter or digit

	re, endRe, restRe *regexp.Regexp
}

func newRedactor() *redactor {
	const (
		key    = `[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`
		cut    = `(?:[\s"'+\\nr]*[A-Za-z0-9+/=]{16,})+` // of a key without its end
		secret = `(["']?\s*[:=]+\s*["']?)[A-Za-z0-9/+]{40}`
		// None of the parts can hold what the next begins with, so that no text takes more than linear time.
		login = `([^\s/?#:@"'<>]*:)[^\s/?#@"'<>]+(@)`
		jwt   = `[A-Za-z0-9]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}`
	)
	shapes := []shape{
		{word: "-----BEGIN ", pattern: key, end: "-----END " + key, rest: cut, inside: true},
		{word: "aws_secret_access_key", pattern: secret},
		{word: "AWS_SECRET_ACCESS_KEY", pattern: secret},
		{word: "ecretAccessKey", pattern: secret, inside: true},
		{word: "AccountKey=", pattern: `[A-Za-z0-9+/]{86}==`},
		{word: "AKIA", pattern: `[A-Z0-9]{16}\b`},
		{word: "ASIA", pattern: `[A-Z0-9]{16}\b`},
		{word: "github_pat_", pattern: `[A-Za-z0-9_]{22,}`},
		{word: "glpat-", pattern: `[A-Za-z0-9_-]{20,}`},
		{word: "hooks.slack.com/services/", pattern: `T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]+`},
		{word: "xox", pattern: `[abeoprs]-[A-Za-z0-9-]{10,}`},
		{word: "sk-", pattern: `[A-Za-z0-9_-]{20,}`},
		{word: "sk_live_", pattern: `[A-Za-z0-9]{16,}`},
		{word: "rk_live_", pattern: `[A-Za-z0-9]{16,}`},
		{word: "AIza", pattern: `[A-Za-z0-9_-]{35}`},
		{word: "npm_", pattern: `[A-Za-z0-9]{36}`},
		{word: "hf_", pattern: `[A-Za-z0-9]{34,}`},
		{word: "dop_v1_", pattern: `[a-f0-9]{64}`},
		{word: "pypi-AgE", pattern: `[A-Za-z0-9_-]{50,}`},
		{word: "SG.", pattern: `[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`},
		{word: "eyJ", pattern: jwt},
		{word: "://", pattern: login, inside: true},
		{word: "AGE-SECRET-KEY-1", pattern: `[A-Z0-9]{50,}`},
	}
	for _, kind := range "pousr" {
		shapes = append(shapes, shape{word: "gh" + string(kind) + "_", pattern: `[A-Za-z0-9]{36,}`})
	}
	r := &redactor{shapes: shapes}
	for _, s := range shapes {
		m := mark(uint32(s.word[0])<<16 | uint32(s.word[1])<<8 | uint32(s.word[2]))
		r.begins[m>>3] |= 1 << (m & 7)
	}
	return r
}

func (r *redactor) line(s string) string { return string(r.redact([]byte(s))) }

// redact returns the text as it is where there is no secret.
func (r *redactor) redact(text []byte) []byte {
	r.endless = false
	var b []byte
	done := 0
	three := uint32(0)
	for i, c := range text {
		three = three<<8&0xffffff | uint32(c)
		if !isMarked(&r.begins, mark(three)) || i < done+2 {
			continue
		}
		if keep, end := r.match(text, i-2); end > 0 {
			b = append(append(b, text[done:keep]...), redacted...)
			done = end
		}
	}
	if done == 0 {
		return text
	}
	return append(b, text[done:]...)
}

func (r *redactor) match(text []byte, start int) (keep, end int) {
	for i := range r.shapes {
		if s := &r.shapes[i]; string(text[start:min(start+len(s.word), len(text))]) == s.word {
			if keep, end = s.match(text, start); end > 0 && s.end != "" {
				end = r.through(s, text, end)
			}
			if end > 0 {
				return keep, end
			}
		}
	}
	return 0, 0
}

// through gives where the shape ends that begins before from, or 0.
func (r *redactor) through(s *shape, text []byte, from int) int {
	if s.endRe == nil {
		s.endRe, s.restRe = regexp.MustCompile(s.end), regexp.MustCompile("^"+s.rest)
	}
	if !r.endless {
		if m := s.endRe.FindIndex(text[from:]); m != nil {
			return from + m[1]
		}
		r.endless = true
	}
	if m := s.restRe.FindIndex(text[from:]); m != nil {
		return from + m[1]
	}
	return 0
}

// match gives where the secret at start begins and ends; the end is 0 when there is none.
func (s *shape) match(text []byte, start int) (keep, end int) {
	if !s.inside && start > 0 && isWordByte(text[start-1]) {
		return 0, 0
	}
	if s.re == nil {
		s.re = regexp.MustCompile("^" + s.pattern)
	}
	after := start + len(s.word)
	m := s.re.FindSubmatchIndex(text[after:])
	switch {
	case m == nil:
		return 0, 0
	case len(m) > 4:
		if isPlaceholder(string(text[after+m[3] : after+m[4]])) {
			return 0, 0
		}
		return after + m[3], after + m[4]
	case len(m) > 2:
		return after + m[3], after + m[1]
	}
	return start, after + m[1]
}

// isPlaceholder knows what documents write in the place of a password.
func isPlaceholder(password string) bool {
	switch strings.ToLower(password) {
	case "password", "passwd", "pass", "pwd", "pw", "p", "secret", "token":
		return true
	}
	return strings.ContainsAny(password[:1], "$%{[(*.") || strings.Trim(password, "xX") == ""
}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

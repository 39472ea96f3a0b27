package secret

import (
	"bytes"
	_ "embed"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/packed"
)

// rule describes one kind of secret.
type rule struct {
	name   string
	word   string // the word that it begins with
	end    bool   // it extends to endRe, however far away; if there is none, restRe matches the rest
	inside bool   // may follow a letter or digit
	// fits, unless nil, reports whether the value at from is a secret, because many assigned values are not.
	fits func(text []byte, from, to int) bool

	re, endRe, restRe *lazyregexp.Regexp
}

// table is the table of rules; its first lines explain the columns.
//
//go:embed rules.tsv.gz
var table string

// rules returns the rules by first byte. An expression is compiled when its word first occurs, and few ever do.
var rules = sync.OnceValue(func() (by [256][]*rule) {
	fits := map[string]func(text []byte, from, to int) bool{
		"random": isRandom, "chance": isChance, "credential": isCredential, "password": isPassword}
	var like rule
	for line := range strings.Lines(string(packed.Text(table))) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if line[0] == '#' {
			continue
		}
		if len(columns) > 2 {
			like = rule{re: lazyregexp.New("^(?:" + columns[3] + ")")}
			for check := range strings.SplitSeq(columns[2], ",") {
				like.inside = like.inside || check == "inside"
				if f := fits[check]; f != nil {
					like.fits = f
				}
			}
		}
		if len(columns) > 4 {
			like.end, like.endRe, like.restRe = true, lazyregexp.New(columns[4]), lazyregexp.New("^(?:"+columns[5]+")")
		}
		for word := range strings.FieldsSeq(columns[1]) {
			r := like
			r.name, r.word = columns[0], strings.ReplaceAll(word, `\s`, " ")
			by[r.word[0]] = append(by[r.word[0]], &r)
		}
	}
	return by
})

// isPlaceholder reports whether the text is one that documents use in place of a password.
func isPlaceholder(password string) bool {
	switch strings.ToLower(password) {
	case "password", "passwd", "pass", "pwd", "pw", "p", "secret", "token":
		return true
	}
	return strings.ContainsAny(password[:1], "$%{[(*.") || strings.Trim(password, "xX") == ""
}

// standIns occur in values that stand for others.
var standIns = []string{"your", "example", "changeme", "change_me", "change-me", "placeholder", "redacted", "xxxx",
	"****", "....", "${", "{{", "$(", "%s", "<"}

func isStandIn(value string) bool {
	lower := strings.ToLower(value)
	return slices.ContainsFunc(standIns, func(s string) bool { return strings.Contains(lower, s) }) || isPlaceholder(value)
}

// words matches words in a row with at most two digits each, or a single word with four: a name or a path, not a
// random value.
var words = lazyregexp.New(`^(?:[A-Za-z]*[0-9]{0,2}[-_/.])*[A-Za-z]*[0-9]{0,2}$|^[A-Za-z_]+[0-9]{1,4}[A-Za-z_]+$`)

// reference matches code that refers to the value without containing it: a call, a field, or Erlang's name/arity of a
// function.
var reference = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*(?:\.|::|->|\(|\[|/[0-9]$)`)

// isRandom reports whether a value is random, rather than a name or code.
func isRandom(text []byte, from, to int) bool {
	return !isCode(text, from, to) && isChance(text, from, to)
}

// isChance is isRandom for values that begin like a secret, so that code need not be considered.
func isChance(text []byte, from, to int) bool {
	value := string(text[from:to])
	return !isStandIn(value) && strings.ContainsAny(value, "0123456789") &&
		strings.ContainsFunc(value, isLetter) && !words.MatchString(value) && entropy(value) >= 3
}

// isCode reports whether text without quotes continues like an expression.
func isCode(text []byte, from, to int) bool {
	if from > 0 && strings.IndexByte("\"'`", text[from-1]) >= 0 {
		return false
	}
	return to < len(text) && strings.IndexByte("([.", text[to]) >= 0 || reference.Match(text[from:to])
}

// entropy returns the entropy in bits per character.
func entropy(value string) (bits float64) {
	var count [256]int
	for _, c := range []byte(value) {
		count[c]++
	}
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(value))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// isCredential is for the value of a header, which is a secret unless it is a word.
func isCredential(text []byte, from, to int) bool {
	value := string(text[from:to])
	if isStandIn(value) {
		return false
	}
	lower := func(r rune) bool { return isLetter(r) && !isUpper(r) }
	mixed := strings.ContainsFunc(value[1:], isUpper) && strings.ContainsFunc(value, lower)
	return mixed || strings.ContainsAny(value, "0123456789")
}

// isPassword is for a value that is assigned to a password. In environment and properties files any value is one;
// elsewhere it must not look like the words of programs.
func isPassword(text []byte, from, to int) bool {
	value := strings.TrimRight(string(text[from:to]), `,;)}]\`)
	if len(value) < 4 || isCode(text, from, from+len(value)) || isStandIn(value) {
		return false
	}
	before := bytes.TrimRight(text[:from], "\"'`")
	plain := len(before) > 1 && before[len(before)-1] == '=' && !isSpace(before[len(before)-2])
	line := to == len(text) || text[to] == '\n' || text[to] == '\r'
	shouted := isUpper(rune(letterBefore(before)))
	if plain && (shouted || line && to == from+len(value)) {
		return true
	}
	return strings.ContainsAny(value, "0123456789") && strings.ContainsFunc(value, isLetter) ||
		strings.ContainsAny(value[1:], "!@#$%^&*?~")
}

// letterBefore returns the last letter of the name that a value is assigned to.
func letterBefore(text []byte) byte {
	for i := len(text) - 1; i >= max(0, len(text)-8); i-- {
		if isLetter(rune(text[i])) {
			return text[i]
		}
	}
	return 0
}

func isUpper(r rune) bool { return r >= 'A' && r <= 'Z' }

func isLetter(r rune) bool { return isUpper(r) || r >= 'a' && r <= 'z' }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

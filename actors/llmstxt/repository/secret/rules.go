package secret

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

// rule describes one kind of secret.
type rule struct {
	name   string
	word   string // the word that it begins with
	end    bool   // it extends to endRe, however far away; if there is none, restRe matches the rest
	inside bool   // may follow a letter or digit
	// fits, unless nil, reports whether the value at from is a secret, because many assigned values are not.
	fits func(text []byte, from, to int) bool

	re, endRe, restRe func() *regexp.Regexp
}

// table is the table of rules; its first lines explain the columns.
//
//go:embed rules.tsv
var table string

// rules returns the rules by first byte. An expression is compiled when its word first occurs, and few ever do.
var rules = sync.OnceValue(func() (by [256][]*rule) {
	fits := map[string]func(text []byte, from, to int) bool{
		"random": isRandom, "chance": isChance, "credential": isCredential, "password": isPassword}
	var like rule
	for line := range strings.Lines(table) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if line[0] == '#' {
			continue
		}
		if len(columns) > 2 {
			like = rule{re: compiled("^(?:" + columns[3] + ")")}
			for check := range strings.SplitSeq(columns[2], ",") {
				like.inside = like.inside || check == "inside"
				if f := fits[check]; f != nil {
					like.fits = f
				}
			}
		}
		if len(columns) > 4 {
			like.end, like.endRe, like.restRe = true, compiled(columns[4]), compiled("^(?:"+columns[5]+")")
		}
		for word := range strings.FieldsSeq(columns[1]) {
			r := like
			r.name, r.word = columns[0], strings.ReplaceAll(word, `\s`, " ")
			by[r.word[0]] = append(by[r.word[0]], &r)
		}
	}
	return by
})

func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

package secret

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

// rule is what a secret of one kind looks like.
type rule struct {
	name   string
	word   string // what it begins with
	end    bool   // it goes on to endRe, however far away; where there is none, restRe is what follows
	inside bool   // may follow a letter or digit
	// fits, where there is one, says whether the value at from is a secret: many are assigned that are none.
	fits func(text []byte, from, to int) bool

	re, endRe, restRe func() *regexp.Regexp
}

// table says what its columns are.
//
//go:embed rules.tsv
var table string

// rules by their first byte. An expression is compiled when its word is first met: few ever are.
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

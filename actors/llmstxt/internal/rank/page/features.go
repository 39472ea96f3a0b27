package page

import (
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// Features are what the lines of a document show without a parser for its format: enough to recognize its kind.
type Features struct {
	Fences     int
	ProseLines int
	Targets    []string // local paths that it links to
	Script     string   // script in which the text is written; "" for Latin
	Stub       bool     // its text is elsewhere, or comes later
	Includes   string   // relative path of the file that is all its text, or ""
}

// FeaturesOf reads the whole text once.
func FeaturesOf(p, text string) (f Features) {
	if markdown, ok := asMarkdown(p, text); ok {
		text = markdown
	}
	_, body := frontMatter(text)
	f.Script, f.Targets = scriptOf(body), localTargets(body)
	fence := ""
	lines := append(strings.Split(body, "\n"), "")
	for i, next := range lines[1:] {
		line, t := lines[i], strings.TrimSpace(lines[i])
		switch {
		case fence == "" && prose.StartsWithAny(t, "```", "~~~"):
			fence = t[:3]
			f.Fences++
		case fence != "":
			if strings.HasPrefix(t, fence) {
				fence = ""
			}
		case t == "" || isRule(t) || markedHeading.MatchString(t) || isUnderlined(t, next) || strings.HasPrefix(t, ".. "):
		case strings.IndexByte(" \t-*+|<!:>[", line[0]) < 0 && !isNumbered(t):
			f.ProseLines++
		}
	}
	f.Stub = f.ProseLines < 3 && f.Fences < 2 && stub.MatchString(body)
	if m := include.FindStringSubmatch(body); m != nil && f.ProseLines == 0 {
		f.Includes = m[1]
	}
	return f
}

var (
	stub    = lazyregexp.New(`(?im)^(this page (has|was) )?moved (to|here)\b|^# placeholder$|^coming soon`)
	include = lazyregexp.New("(?m)^(?:```\\{|\\.\\. )include(?:\\}|::) (\\S+)$")
)

var markedHeading = lazyregexp.New(`^(#+|=+) `)

func isUnderlined(t, next string) bool {
	return isRule(next) && len(strings.TrimSpace(next))+3 >= len(t) && next[0] != ' ' && t[0] != '|' && t[0] != '+'
}

func isNumbered(t string) bool {
	digits := len(t) - len(strings.TrimLeft(t, "0123456789"))
	return digits > 0 && digits < 3 && len(t) > digits+1 && (t[digits] == '.' || t[digits] == ')') && t[digits+1] == ' '
}

// plainInline removes the marks of emphasis, code, links and headings.
func plainInline(s string) string { return prose.Tidy(inlineMarks.ReplaceAllString(s, "$1")) }

var inlineMarks = lazyregexp.New("\\[([^\\]]*)\\]\\([^)]*\\)|\\*\\*|`|__| \\{#[^}]*\\}$")

// scripts are the scripts of languages without Latin letters.
var scripts = []string{"Han", "Hiragana", "Katakana", "Hangul", "Cyrillic", "Arabic", "Devanagari", "Greek", "Hebrew", "Thai"}

// scriptOf returns the script of a large part of the text; "" for Latin, or for too little text.
func scriptOf(text string) (most string) {
	latin, others := 0, make(map[string]int)
	for _, r := range text {
		if r >= 'a' && r <= 'z' {
			latin++
		}
		for i := 0; r >= 0x80 && i < len(scripts); i++ {
			if unicode.Is(unicode.Scripts[scripts[i]], r) {
				others[scripts[i]]++
				break
			}
		}
	}
	for _, script := range scripts {
		if n := others[script]; n > 20 && 4*n > latin && n > others[most] {
			most = script
		}
	}
	return most
}

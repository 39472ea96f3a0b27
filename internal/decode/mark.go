package decode

import (
	"strconv"
	"strings"
)

// kind is a way to mark a thought. The first kinds are tags, in the order of names.
type kind uint8

const (
	think kind = iota
	thinking
	thought
	reasoning
	scratchpad
	mmThink
	mistral
	gemma
	litert
	harmony
	field
)

// names are the names of tags, compared without regard to case. Each is a bit of a tagSet.
var names = [...]string{"think", "thinking", "thought", "reasoning", "reasoning_scratchpad", "mm:think"}

// tagSet is a set of tags; bit k is the tag of kind k.
type tagSet uint8

const (
	allTags tagSet = 1<<len(names) - 1
	// template are the tags that chat templates make models write. People write these tags too, in texts about
	// models, so they open a thought only where one can be expected.
	template = 1<<think | 1<<mmThink
)

// role says whether a mark opens a thought, closes one, or begins a message.
type role uint8

const (
	opens role = iota
	closes
	heads // a message of harmony, up to endHeader
)

// literals are the marks that are compared byte by byte. None is a prefix of another. Within each, the first byte
// does not occur again, except where a new mark may begin: so a failed match never has to be read twice.
var literals = [...]struct {
	text string
	kind kind
	role role
}{
	{"[THINK]", mistral, opens},
	{"[/THINK]", mistral, closes},
	{"<|channel>thought", gemma, opens},
	{"<channel|>", gemma, closes},
	{"<|think|>", litert, opens},
	{"<|/think|>", litert, closes},
	{"<|start|>", harmony, heads},
	{"<|channel|>", harmony, heads},
	{"<|end|>", harmony, closes},
	{"<|return|>", harmony, closes},
	{"<|call|>", harmony, closes},
}

const (
	endHeader = "<|message|>"
	maxHeader = 256
)

// literalSet has a bit for each of the literals.
type literalSet uint16

// wanted is the set of marks that may come.
type wanted struct {
	open, close tagSet
	literals    literalSet
}

func (w *wanted) want(k kind, r role) {
	for i, l := range literals {
		if l.kind == k && l.role == r {
			w.literals |= 1 << i
		}
	}
}

// mark is what a matcher has found.
type mark struct {
	kind kind
	role role
	self bool // <think/>
}

// attrs holds the attributes of a tag.
type attrs struct {
	text       string // a whole thought
	typ        string
	confidence *float64
}

// parseAttrs reads an opening tag. ok is false if it has anything but name=value.
func parseAttrs(tag string) (a attrs, ok bool) {
	_, rest := cutBlank(strings.TrimSuffix(strings.TrimSuffix(tag, ">"), "/"))
	for rest = strings.TrimLeft(rest, blanks); rest != ""; rest = strings.TrimLeft(rest, blanks) {
		name, value, found := strings.Cut(rest, "=")
		name = strings.TrimRight(name, blanks)
		if !found || name == "" || strings.ContainsAny(name, blanks+`"'`) {
			return attrs{}, false
		}
		value, rest = cutValue(strings.TrimLeft(value, blanks))
		a.set(name, value)
	}
	return a, true
}

const blanks = " \t\r\n"

// cutBlank splits a text before its first blank.
func cutBlank(s string) (before, after string) {
	if i := strings.IndexAny(s, blanks); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// cutValue splits off a value, quoted or not.
func cutValue(s string) (value, rest string) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		value, rest = cutBlank(s)
		return entities.Replace(value), rest
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return entities.Replace(b.String()), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
			if s[i] != '"' && s[i] != '\'' && s[i] != '\\' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(s[i])
	}
	return entities.Replace(b.String()), ""
}

// entities replaces the predefined entities of XML.
var entities = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&amp;", "&")

// set stores an attribute, and ignores unknown ones.
func (a *attrs) set(name, value string) {
	switch strings.ToLower(name) {
	case "thought", "content", "text":
		a.text = value
	case "thought_type", "thoughttype", "type":
		a.typ = value
	case "confidence":
		if c, err := strconv.ParseFloat(value, 64); err == nil && c >= 0 && c <= 1 {
			a.confidence = &c
		}
	}
}

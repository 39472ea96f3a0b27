package decode

import (
	"strconv"
	"strings"
)

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

package decode

import (
	"strconv"
	"strings"
)

// attrs are the attributes of a tag.
type attrs struct {
	text       string // a thought in itself
	typ        string
	confidence *float64
}

// parseAttrs reads an opening tag; ok is false if it has anything but name=value.
func parseAttrs(tag string) (a attrs, ok bool) {
	_, rest, _ := cutBlank(strings.TrimSuffix(strings.TrimSuffix(tag, ">"), "/"))
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

func cutBlank(s string) (before, after string, found bool) {
	i := strings.IndexAny(s, blanks)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i:], true
}

// cutValue cuts a value off, quoted or not.
func cutValue(s string) (value, rest string) {
	if s == "" || s[0] != '"' && s[0] != '\'' {
		value, rest, _ = cutBlank(s)
		return plainValue(value), rest
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return plainValue(b.String()), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
			if s[i] != '"' && s[i] != '\'' && s[i] != '\\' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(s[i])
	}
	return plainValue(b.String()), ""
}

// plainValue resolves the entities of XML.
func plainValue(s string) string {
	if !strings.Contains(s, "&") {
		return s
	}
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&apos;", "'", "&amp;", "&").Replace(s)
}

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

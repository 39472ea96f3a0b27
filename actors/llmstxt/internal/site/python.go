package site

import (
	"regexp"
	"strings"
)

// python reads values of a Python program without running it.
type python struct {
	rest  string
	names front // values so far
	depth int
}

// unknown is a value that only a program can compute.
type unknown struct{}

// maxDepth bounds brackets in brackets.
const maxDepth = 50

var pythonAssignment = regexp.MustCompile(`^([A-Za-z_]\w*)[ \t]*(?::[^=\n]*)?(\+?=)[^=]`)

// assignments returns what a Python program assigns to names at its top level: texts, lists of values, and maps.
func assignments(program string) front {
	p := &python{rest: strings.ReplaceAll(program, "\r\n", "\n"), names: front{}}
	for p.rest != "" {
		if m := pythonAssignment.FindStringSubmatch(p.rest); m != nil {
			p.rest = p.rest[len(m[0])-1:]
			v := p.value("\n;")
			if m[2] == "+=" {
				v = added(p.names[m[1]], v)
			}
			p.names[m[1]] = v
		}
		p.skip("\n")
		p.rest = strings.TrimPrefix(p.rest, "\n")
	}
	return p.names
}

// skip goes on to one of the stops that stands outside of brackets, texts and comments.
func (p *python) skip(stops string) {
	for open := 0; p.rest != ""; {
		c := p.rest[0]
		if open == 0 && strings.IndexByte(stops, c) >= 0 {
			return
		}
		switch {
		case c == '"' || c == '\'':
			p.literal()
			continue
		case c == '#':
			p.rest = p.rest[lengthTo(p.rest, "\n"):]
			continue
		case strings.IndexByte("([{", c) >= 0:
			open++
		case strings.IndexByte(")]}", c) >= 0:
			open = max(0, open-1)
		case c == '\\' && len(p.rest) > 1:
			p.rest = p.rest[1:]
		}
		p.rest = p.rest[1:]
	}
}

func lengthTo(s, end string) int {
	if i := strings.Index(s, end); i >= 0 {
		return i
	}
	return len(s)
}

// space skips blanks, and within brackets comments and ends of lines.
func (p *python) space() {
	for {
		p.rest = strings.TrimLeft(p.rest, " \t\f")
		switch {
		case strings.HasPrefix(p.rest, "\\\n"):
			p.rest = p.rest[2:]
		case p.depth > 0 && strings.HasPrefix(p.rest, "\n"):
			p.rest = p.rest[1:]
		case strings.HasPrefix(p.rest, "#"):
			p.rest = p.rest[lengthTo(p.rest, "\n"):]
		default:
			return
		}
	}
}

// value reads an expression up to one of the stops: sums, and the first known of those that "or" joins.
func (p *python) value(stops string) any {
	v := p.term()
	for p.space(); ; p.space() {
		if rest, ok := strings.CutPrefix(p.rest, "+"); ok {
			p.rest = rest
			v = added(v, p.term())
		} else if rest, ok := strings.CutPrefix(p.rest, "or "); ok {
			p.rest = rest
			other := p.term()
			if textOf(v) == "" && len(listOf(v)) == 0 {
				v = other
			}
		} else {
			break
		}
	}
	if p.rest == "" || strings.IndexByte(stops, p.rest[0]) >= 0 {
		return v
	}
	p.skip(stops)
	return unknown{}
}

// Sums beyond these limits are unknown: a program of a few lines can double a value many times.
const (
	maxText  = 4 << 10 // bytes
	maxItems = 4 << 10
)

func added(a, b any) any {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok && len(a)+len(b) <= maxText {
			return a + b
		}
	case []any:
		if b, ok := b.([]any); ok && len(a)+len(b) <= maxItems {
			return append(a[:len(a):len(a)], b...)
		}
	}
	return unknown{}
}

var (
	pythonQuote = regexp.MustCompile(`^(?i:[rubf]{0,2})["']`)
	pythonName  = regexp.MustCompile(`^[A-Za-z_][\w.]*`)
)

func (p *python) term() any {
	p.space()
	switch {
	case p.rest == "":
		return unknown{}
	case pythonQuote.MatchString(p.rest):
		return p.texts()
	case p.rest[0] == '[':
		return p.list("]")
	case p.rest[0] == '{':
		return p.list("}")
	case p.rest[0] == '(':
		return p.list(")")
	}
	return p.name()
}

// texts reads the literals that stand side by side.
func (p *python) texts() any {
	var whole strings.Builder
	known := true
	for p.space(); ; p.space() {
		quote := pythonQuote.FindString(p.rest)
		if quote == "" {
			break
		}
		prefix := strings.ToLower(quote[:len(quote)-1])
		p.rest = p.rest[len(prefix):]
		text := p.literal()
		if !strings.Contains(prefix, "r") {
			text = pythonEscapes.Replace(text)
		}
		if strings.Contains(prefix, "f") && len(text) <= maxText {
			text = p.formatted(text)
			known = known && !strings.Contains(text, "{")
		}
		whole.WriteString(text)
	}
	if !known {
		return unknown{}
	}
	return whole.String()
}

var pythonEscapes = strings.NewReplacer("\\\n", "", `\\`, `\`, `\"`, `"`, `\'`, `'`, `\n`, "\n", `\t`, "\t")

// literal reads one literal, and returns the text between its quotes.
func (p *python) literal() string {
	quote := p.rest[:1]
	if strings.HasPrefix(p.rest, strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	text := p.rest[len(quote):]
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], quote):
			p.rest = text[i+len(quote):]
			return text[:i]
		case len(quote) == 1 && text[i] == '\n':
			p.rest = text[i:]
			return text[:i]
		}
	}
	p.rest = ""
	return text
}

var pythonField = regexp.MustCompile(`\{\w+\}`)

// formatted puts known values into a text. Fields that are not known stay.
func (p *python) formatted(text string) string {
	return pythonField.ReplaceAllStringFunc(text, func(field string) string {
		if v, ok := p.names[field[1:len(field)-1]].(string); ok && !strings.Contains(v, "{") && len(v) <= maxText {
			return v
		}
		return field
	})
}

// list reads a list, a tuple, a set, or a map, or a value in parentheses.
func (p *python) list(end string) any {
	if p.depth == maxDepth {
		return unknown{}
	}
	p.depth++
	defer func() { p.depth-- }()
	p.rest = p.rest[1:]
	list, keyed, commas := []any{}, front{}, 0
	for p.space(); p.rest != "" && !strings.HasPrefix(p.rest, end); p.space() {
		v := p.value(":," + end)
		if strings.HasPrefix(p.rest, ":") {
			p.rest = p.rest[1:]
			keyed[textOf(v)] = p.value("," + end)
		} else {
			list = append(list, v)
		}
		if strings.HasPrefix(p.rest, ",") {
			p.rest = p.rest[1:]
			commas++
		}
	}
	p.rest = strings.TrimPrefix(p.rest, end)
	switch {
	case len(keyed) > 0:
		return map[string]any(keyed)
	case end == ")" && commas == 0 && len(list) == 1:
		return list[0]
	}
	return list
}

// name reads a name, and what stands after it. A call of get or getenv is its default.
func (p *python) name() any {
	name := pythonName.FindString(p.rest)
	p.rest = p.rest[len(name):]
	v, known := p.names[name]
	if p.space(); strings.HasPrefix(p.rest, "(") {
		arguments, _ := p.list(")").([]any)
		if getter := name[strings.LastIndexByte(name, '.')+1:]; (getter == "get" || getter == "getenv") && len(arguments) == 2 {
			return arguments[1]
		}
		return unknown{}
	}
	if !known {
		return unknown{}
	}
	return v
}

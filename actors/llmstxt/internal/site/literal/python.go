package literal

import (
	"regexp"
	"strings"
)

var (
	pythonToken = regexp.MustCompile(`^(?s:(\s+|#[^\n]*|\\\n)|((?i:[rubf]{0,2}))("""(?:\\.|[^\\])*?(?:"""|$)|'''(?:\\.|[^\\])*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)|([\pL_][\pL\pN_]*)|(\d[\w.]*)|(.))`)
	pythonField = regexp.MustCompile(`\{[^{}]*\}`)
)

// scanPython returns the tokens of a Python program. A formatted text is a template. Fresh is what begins a line without
// indentation.
func scanPython(text string) []token {
	s := &scanner{text: text}
	for fresh := true; s.text != ""; {
		m, from := pythonToken.FindStringSubmatch(s.text), len(s.toks)
		n := len(m[0])
		switch {
		case m[1] != "":
			if s.text = s.text[n:]; m[1][0] != '#' {
				fresh = m[1][0] != '\\' && strings.HasSuffix(m[1], "\n")
			}
			continue
		case m[3] != "":
			s.pythonText(strings.ToLower(m[2]), m[3], n)
		case m[4] != "":
			s.add(word, m[4], n)
		case m[5] != "":
			s.add(number, m[5], n)
		default:
			s.mark(m[6])
		}
		s.toks[from].fresh, fresh = fresh, false
	}
	return s.end()
}

func (s *scanner) pythonText(prefix, quoted string, size int) {
	quote := quoted[:1]
	if strings.HasPrefix(quoted, strings.Repeat(quote, 3)) {
		quote = quoted[:3]
	}
	text := strings.TrimSuffix(quoted[len(quote):], quote)
	if !strings.Contains(prefix, "r") {
		text = unescape(text)
	}
	if !strings.Contains(prefix, "f") {
		s.add(str, text, size)
		return
	}
	s.add(mark, "`", size)
	for text != "" {
		match := pythonField.FindStringIndex(text)
		if match == nil {
			match = []int{len(text), len(text)}
		}
		s.add(str, text[:match[0]], 0)
		if field := text[match[0]:match[1]]; field != "" { // a name, or unknown
			s.toks = append(s.toks, token{kind: mark, text: "${"}, token{kind: word, text: field[1 : len(field)-1]}, token{kind: mark, text: "}"})
		}
		text = text[match[1]:]
	}
	s.add(mark, "`", 0)
}

// Assignments returns what a Python program assigns to names at its top level.
func Assignments(text string) *Object {
	m := &module{program: &program{steps: maxSteps}, toks: scanPython(text), scope: (*scope)(nil).inner(), python: true}
	c, o := &cursor{module: m, scope: m.scope}, &Object{}
	for !c.done() {
		name := c.peek(0)
		c.at++
		if name.kind == word && name.fresh {
			for typed := c.eat(":"); typed && !c.done() && !c.is("=") && !c.peek(0).fresh; {
				c.at++
			}
			adds := c.eat("+")
			if c.is("=") && !c.isAt(1, "=") {
				c.at++
				v := c.expression()
				if !c.done() && !c.peek(0).fresh && !c.is(";") {
					v = unknown("syntax")
				}
				if adds {
					v = combine("+", m.scope.names[name.text], v)
					c.pay(v)
				}
				m.scope.names[name.text] = v
				o.set(name.text, v)
			}
		}
		for !c.done() && !c.peek(0).fresh {
			if c.opens() {
				c.skipPair()
			} else {
				c.at++
			}
		}
	}
	left := maxValues
	known, _ := copied(o, &left, 0).(*Object)
	return known
}

package javascript

import "github.com/seed889630bf/lastword/actors/llmstxt/repository/source/brace"

// typeEnd is the token after the type that begins at i.
func (j *jsScope) typeEnd(i, to int) int {
	return j.Once("type", i, to, func() int {
		t, end := jsType{jsScope: j, to: to}, i
		for range brace.LongestType {
			next, more := t.operand(end)
			if end = next; !more || end >= to {
				break
			}
			if end, more = t.operator(end); !more || end >= to {
				break
			}
		}
		return min(end, to)
	})
}

// jsType reads one type. It keeps apart the ":" of a condition and one that ends the type.
type jsType struct {
	*jsScope
	to        int
	questions int  // how many "extends" wait for their "?"
	colons    int  // how many "?" wait for their ":"
	group     bool // the operand may be the parameters of a function
}

func (t *jsType) operand(i int) (next int, ok bool) {
	for i < t.to && t.IsOneOf(i, "|", "&", "keyof", "typeof", "readonly", "unique", "infer", "asserts", "new",
		"abstract") {
		if t.IsWord(i) && !t.IsWord(i+1) && t.At(i+1).Kind != brace.OpenToken && !t.Is(i+1, "<") {
			break
		}
		i++
	}
	t.group = false
	if t.Is(i, "<") {
		i = t.Angles(i)
	}
	switch tok := t.At(i); {
	case i >= t.to:
		return i, false
	case tok.Kind == brace.OpenToken:
		t.group = t.Is(i, "(")
		i = t.Skip(i)
	case tok.Kind == brace.WordToken:
		i = t.path(i)
	case tok.Kind == brace.LiteralToken, tok.Kind == brace.NumberToken:
		i++
	case t.Is(i, "-"):
		i += 2
	default:
		return i, false
	}
	if next := t.Angles(i); next > i && !t.Breaks(i) {
		i = next
	}
	for i < t.to && t.Is(i, "[") && !t.Breaks(i) {
		i = t.Skip(i)
	}
	return i, true
}

// path passes over a.b.c.
func (t *jsType) path(i int) int {
	for i++; t.Is(i, ".") && t.IsWord(i+1); {
		i += 2
	}
	return i
}

// operator tells whether the type goes on at token i, and where.
func (t *jsType) operator(i int) (next int, more bool) {
	switch {
	case i >= t.to:
		return i, false
	case t.IsOneOf(i, "|", "&"), t.Is(i, "=>") && t.group, t.Is(i, "is") && !t.Breaks(i):
		return i + 1, true
	case t.Is(i, "extends"):
		t.questions++
		return i + 1, true
	case t.Is(i, "?") && t.questions > 0:
		t.questions--
		t.colons++
		return i + 1, true
	case t.Is(i, ":") && t.colons > 0:
		t.colons--
		return i + 1, true
	}
	return i, false
}

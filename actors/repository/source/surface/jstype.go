package surface

// typeEnd is the token after the type that begins at i.
func (j *jsScope) typeEnd(i, to int) int {
	mark := landmark{"type", i, to}
	if end, ok := j.landings[mark]; ok {
		return end
	}
	t := jsType{jsScope: j, to: to}
	for range longestType {
		next, more := t.operand(i)
		if i = next; !more || i >= to {
			break
		}
		if i, more = t.operator(i); !more || i >= to {
			break
		}
	}
	j.landings[mark] = min(i, to)
	return min(i, to)
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
	for i < t.to && t.isOneOf(i, "|", "&", "keyof", "typeof", "readonly", "unique", "infer", "asserts", "new",
		"abstract") {
		if t.isWord(i) && !t.isWord(i+1) && t.at(i+1).kind != openToken && !t.is(i+1, "<") {
			break
		}
		i++
	}
	t.group = false
	if t.is(i, "<") {
		i = t.angles(i)
	}
	switch tok := t.at(i); {
	case i >= t.to:
		return i, false
	case tok.kind == openToken:
		t.group = t.is(i, "(")
		i = t.skip(i)
	case tok.kind == wordToken:
		i = t.path(i)
	case tok.kind == literalToken, tok.kind == numberToken:
		i++
	case t.is(i, "-"):
		i += 2
	default:
		return i, false
	}
	if next := t.angles(i); next > i && !t.breaks(i) {
		i = next
	}
	for i < t.to && t.is(i, "[") && !t.breaks(i) {
		i = t.skip(i)
	}
	return i, true
}

// path passes over a.b.c and import("x").y.
func (t *jsType) path(i int) int {
	if i++; t.is(i-1, "import") && t.is(i, "(") {
		i = t.skip(i)
	}
	for t.is(i, ".") && t.isWord(i+1) {
		i += 2
	}
	return i
}

// operator tells whether the type goes on at token i, and where.
func (t *jsType) operator(i int) (next int, more bool) {
	switch {
	case i >= t.to:
		return i, false
	case t.isOneOf(i, "|", "&"), t.is(i, "=>") && t.group, t.is(i, "is") && !t.breaks(i):
		return i + 1, true
	case t.is(i, "extends"):
		t.questions++
		return i + 1, true
	case t.is(i, "?") && t.questions > 0:
		t.questions--
		t.colons++
		return i + 1, true
	case t.is(i, ":") && t.colons > 0:
		t.colons--
		return i + 1, true
	}
	return i, false
}

package manifest

import "fmt"

// parseJSON parses JSON as people write it: with comments, trailing or missing commas, unquoted keys and single
// quotes. For text that ends early or is broken, it returns what came before, and an error.
func parseJSON(text string) (object, error) {
	r := jsonReader{toks: lex(text, syntax{line: []string{"//"}, block: true, quotes: `"'`, lines: true, words: "+-.$"})}
	o, ok := r.value(r.next(), 0).(object)
	if !ok {
		r.fail("no object")
	}
	return o, r.err
}

type jsonReader struct {
	toks tokens
	line int   // line of the last token
	err  error // the first fault; no token follows it
}

func (r *jsonReader) fail(what string) {
	if r.err == nil {
		r.err = fmt.Errorf("malformed JSON in line %d: %s", r.line, what)
	}
	r.toks = nil
}

// next returns the next token that is not a comma.
func (r *jsonReader) next() token {
	for len(r.toks) > 0 {
		t := r.toks[0]
		r.toks, r.line = r.toks[1:], t.line
		if !t.is(",") {
			return t
		}
	}
	return token{}
}

// value parses the value that begins with the token.
func (r *jsonReader) value(t token, level int) any {
	switch {
	case level > depth:
		r.fail("nested too deeply")
	case t.is("{"):
		return r.object(level)
	case t.is("["):
		return r.array(level)
	case t.kind == str:
		return t.text
	case t.kind == word:
		return literal(t.text)
	default:
		r.fail("no value")
	}
	return nil
}

func literal(word string) any {
	switch word {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	return word
}

func (r *jsonReader) object(level int) object {
	o := object{}
	for {
		key := r.next()
		if key.is("}") {
			return o
		}
		if colon := r.next(); key.kind == mark || !colon.is(":") {
			r.fail("no colon after a key")
			return o
		}
		o = append(o, member{key.text, r.value(r.next(), level+1)})
	}
}

func (r *jsonReader) array(level int) []any {
	list := []any{}
	for {
		t := r.next()
		if t.is("]") {
			return list
		}
		if t.kind == 0 {
			r.fail("a list without an end")
			return list
		}
		list = append(list, r.value(t, level+1))
	}
}

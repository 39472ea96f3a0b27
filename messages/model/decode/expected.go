package decode

// expected returns the marks that may come at this point.
func (t *Thoughts) expected() (w wanted) {
	if t.in {
		t.ending(&w)
		return w
	}
	fresh := t.blank || !t.code.mid
	w.open, w.close = allTags, allTags
	if !fresh {
		w.open &^= template
	}
	w.pair(mistral, fresh)
	w.pair(gemma, true)
	w.pair(litert, fresh)
	w.want(harmony, heads)
	if t.harmony {
		w.want(harmony, closes)
	}
	return w
}

// ending adds the marks that can end the current thought.
func (t *Thoughts) ending(w *wanted) {
	k := t.now.kind
	w.want(k, closes)
	switch k {
	case litert:
		w.close = 1 << think
	case mistral, gemma:
	case harmony:
		w.want(k, heads)
	default: // a tag
		w.close = 1 << k
		if t.now.implicit && !t.now.said {
			w.open = 1 << think
		}
	}
}

func (w *wanted) pair(k kind, open bool) {
	w.want(k, closes)
	if open {
		w.want(k, opens)
	}
}

package decode

// phase is where in a tag the matcher is.
type phase uint8

const (
	atStart phase = iota // the first byte has come
	inName
	inClose  // blanks after the name of a closing tag
	inAttrs  // of an opening tag
	afterBar // "/" in an opening tag
	dead     // after "/" in an opening tag
	inHeader // not a tag
)

// outcome is what a byte means to the matcher.
type outcome uint8

const (
	more outcome = iota
	none         // the byte belongs to no mark
	found
)

// matcher recognizes one mark, byte by byte. The zero value is idle.
type matcher struct {
	n     int // bytes taken
	want  wanted
	mark  mark
	phase phase
	tags  tagSet // names that are still possible
	at    int    // position in the name or in endHeader
	quote byte   // around an attribute's value
	last  byte   // in attributes, the last byte that is not blank
}

// begin takes the first byte, '<' or '['. It returns false if no mark can begin here.
func (m *matcher) begin(w wanted, b byte) bool {
	*m = matcher{want: w, n: 1}
	if b != '<' {
		m.phase = dead
	}
	m.narrow(0, b)
	return m.want.literals != 0 || m.phase != dead && w.open|w.close != 0
}

// step takes the next byte, unless the outcome is none.
func (m *matcher) step(b byte) outcome {
	if m.n >= Held {
		return none
	}
	i := m.n
	m.n++
	if m.phase == inHeader {
		return m.header(b)
	}
	if m.want.literals != 0 {
		if l := m.narrow(i, b); l >= 0 {
			m.mark = mark{kind: literals[l].kind, role: literals[l].role}
			if m.mark.role != heads {
				return found
			}
			m.phase, m.at = inHeader, 0
			return more
		}
	}
	if m.phase != dead && m.tag(b) {
		return found
	}
	if m.phase == dead && m.want.literals == 0 {
		return none
	}
	return more
}

// narrow removes the literals whose byte at i is not b. It returns one that ends there, or -1.
func (m *matcher) narrow(i int, b byte) int {
	for l := range literals {
		bit := literalSet(1) << l
		if m.want.literals&bit == 0 {
			continue
		}
		text := literals[l].text
		if text[i] != b {
			m.want.literals &^= bit
		} else if i == len(text)-1 {
			return l
		}
	}
	return -1
}

// header takes a byte of a harmony header, up to endHeader.
func (m *matcher) header(b byte) outcome {
	switch {
	case b == '\n' || m.n > maxHeader:
		return none
	case b == endHeader[m.at]:
		m.at++
	case b == endHeader[0]:
		m.at = 1
	default:
		m.at = 0
	}
	if m.at == len(endHeader) {
		return found
	}
	return more
}

// tag reports whether b ends a tag.
func (m *matcher) tag(b byte) bool {
	switch m.phase {
	case atStart:
		m.phase, m.tags = inName, m.want.open
		if b == '/' {
			m.tags, m.mark.role = m.want.close, closes
			return false
		}
		m.name(b)
	case inName:
		return m.name(b)
	case inClose:
		if b == '>' {
			return true
		}
		if !blank(b) {
			m.phase = dead
		}
	case afterBar:
		if b == '>' {
			m.mark.self = true
			return true
		}
		m.phase = inAttrs
		return m.attr(b)
	case inAttrs:
		return m.attr(b)
	}
	return false
}

// name takes a byte of a tag's name, and removes the tags that it rules out.
func (m *matcher) name(b byte) bool {
	end := b == '>' || b == '/' || blank(b)
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	for k, name := range names {
		if end && len(name) == m.at && m.tags&(1<<k) != 0 {
			return m.named(kind(k), b)
		}
		if m.at >= len(name) || name[m.at] != b {
			m.tags &^= 1 << k
		}
	}
	m.at++
	if m.tags == 0 {
		m.phase = dead
	}
	return false
}

// named handles the byte after the name of a tag.
func (m *matcher) named(k kind, b byte) bool {
	m.mark.kind = k
	switch {
	case b == '>':
		return true
	case m.mark.role == closes && b != '/':
		m.phase = inClose
	case m.mark.role == closes:
		m.phase = dead
	case b == '/':
		m.phase = afterBar
	default:
		m.phase = inAttrs
	}
	return false
}

// attr takes a byte of the attributes. A value may be in quotes, with backslashes before quotes that belong to it.
func (m *matcher) attr(b byte) bool {
	last := m.last
	if m.quote != 0 {
		switch {
		case last == '\\':
			b = 0
		case b == m.quote:
			m.quote = 0
		}
		m.last = b
		return false
	}
	switch {
	case b == '>':
		return true
	case b == '<', (b == '"' || b == '\'') && last != '=':
		m.phase = dead
	case b == '"' || b == '\'':
		m.quote = b
		b = 0
	case b == '/':
		m.phase = afterBar
	}
	if !blank(b) {
		m.last = b
	}
	return false
}

func blank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

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

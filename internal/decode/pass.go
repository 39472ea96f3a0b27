package decode

import (
	"strings"

	"github.com/seed889630bf/lastword/messages/model"
)

// pass is one piece on its way through Thoughts. The text before from is done. A possible mark begins at position at
// or, if held is not empty, before this piece.
type pass struct {
	*Thoughts
	emit     func(model.Part)
	text     string
	from, at int
}

// run takes the whole piece. What may belong to a mark at its end is held for the next piece.
func (p *pass) run() {
	for i := 0; i < len(p.text); {
		switch {
		case p.after:
			p.decide(i)
		case p.match.n == 0 && p.in:
			i = p.thinking(i)
		case p.match.n == 0:
			i = p.writing(i)
		default:
			i = p.matching(i)
		}
	}
	if p.match.n == 0 {
		p.flush(len(p.text))
		return
	}
	p.flush(p.at)
	p.held = append(p.held, p.text[p.at:]...)
}

// flush passes on what is not done before to, as text or as thought.
func (p *pass) flush(to int) {
	if p.in {
		if p.from < to {
			p.muse(p.text[p.from:to], p.emit)
		}
	} else {
		p.say(p.text[p.from:to], p.emit)
	}
	p.from = to
}

// writing scans text up to a possible mark.
func (p *pass) writing(i int) int {
	for ; i < len(p.text); i++ {
		b := p.text[i]
		if p.trim && (b == '\n' || b == '\r') {
			p.from = i + 1
			p.code.Step(b)
			continue
		}
		p.trim = false
		if p.blank && blank(b) {
			p.space(b)
			p.from = i + 1
			continue
		}
		if (b == '<' || b == '[') && !p.code.Inside() && p.match.begin(p.expected(), b) {
			p.at = i
			return i + 1
		}
		p.match.n, p.blank = 0, false
		if b == '`' || b == '\n' || !p.code.calm() {
			p.code.Step(b)
		} else {
			i += calm(p.text[i+1:])
		}
	}
	return i
}

// calm returns the number of bytes before the next one that writing must look at.
func calm(text string) int {
	for i := range len(text) {
		switch text[i] {
		case '<', '[', '`', '\n':
			return i
		}
	}
	return len(text)
}

// space holds a blank back until it is known whether text or a thought follows.
func (p *pass) space(b byte) {
	p.code.Step(b)
	p.gap = append(p.gap, b)
	if len(p.gap) == Held {
		p.blank = false
	}
}

// thinking scans a thought up to a possible end.
func (p *pass) thinking(i int) int {
	first := byte('<')
	if p.now.kind == mistral {
		first = '['
	}
	n := strings.IndexByte(p.text[i:], first)
	if n < 0 {
		p.remember(p.text[i:])
		return len(p.text)
	}
	p.remember(p.text[i : i+n])
	p.at = i + n
	if !p.match.begin(p.expected(), first) {
		p.match.n = 0
		p.remember(p.text[p.at : p.at+1])
	}
	return p.at + 1
}

// remember notes of a thought whether it has more than blanks, and its last two bytes.
func (p *pass) remember(text string) {
	p.now.said = p.now.said || strings.Trim(text, blanks) != ""
	switch n := len(text); n {
	case 0:
	case 1:
		p.now.last = [2]byte{p.now.last[1], text[0]}
	default:
		p.now.last = [2]byte{text[n-2], text[n-1]}
	}
}

// matching takes the next byte of a possible mark, and returns the index to continue from.
func (p *pass) matching(i int) int {
	switch p.match.step(p.text[i]) {
	case none:
		p.literal(i)
		return i
	case found:
		if p.in && p.match.mark.role == closes && p.quoted() {
			p.after = true
			return i + 1
		}
		p.marked(i + 1)
	}
	return i + 1
}

// quoted reports whether the mark follows an opening quote.
func (p *pass) quoted() bool {
	before, quote := p.now.last[0], p.now.last[1]
	return (quote == '"' || quote == '\'' || quote == '`') && (before == 0 || blank(before) || before == '(')
}

// decide accepts a closing mark after a quote, unless the quote ends right after the mark.
func (p *pass) decide(i int) {
	p.after = false
	if p.text[i] == p.now.last[1] {
		p.literal(i)
	} else {
		p.marked(i)
	}
}

// literal takes what was held back as text.
func (p *pass) literal(to int) {
	held := string(p.held)
	text := held + p.text[p.at:to]
	p.match.n, p.held = 0, p.held[:0]
	if p.in {
		p.remember(text)
		p.muse(held, p.emit)
		return
	}
	p.blank = false
	for i := range len(text) {
		p.code.Step(text[i])
	}
	if held != "" {
		p.say(held, p.emit)
	}
}

// marked handles the mark that ends before to.
func (p *pass) marked(to int) {
	m := p.match.mark
	tag := string(p.held) + p.text[p.at:to]
	var a attrs
	if m.role == opens && m.kind <= mmThink {
		var ok bool
		if a, ok = parseAttrs(tag); !ok {
			p.literal(to)
			return
		}
	}
	p.flush(p.at)
	if m.role == closes && m.kind != harmony && !p.in && p.told {
		p.stray = true
		p.literal(to)
		return
	}
	p.match.n, p.from, p.held = 0, to, p.held[:0]
	switch {
	case m.role == heads:
		p.message(tag)
	case m.role == closes:
		p.closed()
	case !p.in:
		p.begin(m.kind, a, p.emit)
		if m.self {
			p.end(p.emit)
		}
	}
}

// closed ends the thought. Without an open thought the mark is stray.
func (p *pass) closed() {
	p.match.n, p.after, p.held = 0, false, p.held[:0]
	if !p.in {
		p.stray = p.stray || p.match.mark.kind != harmony
		return
	}
	p.end(p.emit)
}

// message begins a message of harmony. Messages to tools are not text.
func (p *pass) message(header string) {
	p.end(p.emit)
	p.harmony, p.code, p.blank, p.trim = true, Code{}, true, true
	header = strings.TrimSuffix(header, endHeader)
	_, channel, _ := strings.Cut(header, "<|channel|>")
	name, _ := cutBlank(strings.TrimSpace(channel))
	name, _, _ = strings.Cut(name, "<")
	if name == "analysis" || strings.Contains(header, "to=") {
		p.begin(harmony, attrs{typ: name}, p.emit)
	}
}

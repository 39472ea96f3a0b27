package insight

import "strings"

// Live makes the texts of an answer out of its strings while they come. Say hears pieces of the texts that
// [Answer.Texts] gives, as long as the answer is written in the order of its form.
type Live struct {
	Say    func(stream, text string)
	Opened []string // the texts that have begun

	last map[string]string // the path that a text is at
}

// Field hears a piece of the string at the path, such as "concepts.0.name".
func (l *Live) Field(path, piece string) {
	stream, inside, _ := strings.Cut(path, ".")
	before, open := l.last[stream]
	if !open {
		if l.last == nil {
			l.last = map[string]string{}
		}
		l.Opened = append(l.Opened, stream)
	}
	l.last[stream] = inside
	l.Say(stream, separator(before, inside, open)+piece)
}

// separator is what stands between two strings of a text.
func separator(before, now string, open bool) string {
	if !open || before == now {
		return ""
	}
	item, _, _ := strings.Cut(before, ".")
	if next, _, _ := strings.Cut(now, "."); next == item {
		return ": "
	}
	return "\n"
}

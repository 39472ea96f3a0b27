package insight

import "strings"

// Live streams the texts of an answer while its strings arrive. Say gets pieces of the texts of [Answer.Texts], if
// the answer is written in the order of its form. It is not safe for concurrent use.
type Live struct {
	Say    func(stream, text string)
	Opened []string // names of the texts that have begun

	last map[string]string // current path, by text
}

// Field takes a piece of the string at the path, such as "concepts.0.name".
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

// separator returns what is between two strings of a text.
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

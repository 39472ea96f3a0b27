package structured

import (
	"errors"
	"strings"

	"github.com/seed889630bf/lastword/messages/model/decode"
)

// live tells the strings of an object that is not complete yet.
type live struct {
	names  []string
	say    func(path, piece string)
	fields *decode.Fields
	told   map[string]*telling
}

// telling is what was said of one field of the object, in all attempts. Paths stand in the transcript between zero
// bytes, where they change.
type telling struct {
	transcript []byte
	at         int    // how far the current attempt has come in it
	path       string // of the current attempt's last piece
	off        bool   // the current attempt says something else than what was said already
}

func newLive(names []string, say func(path, piece string)) *live {
	l := &live{names: names, say: say, told: map[string]*telling{}}
	for _, name := range names {
		l.told[name] = new(telling)
	}
	return l
}

// begin begins an attempt.
func (l *live) begin() {
	l.fields = decode.NewFields(l.names...)
	for _, t := range l.told {
		t.at, t.path, t.off = 0, "", false
	}
}

func (l *live) push(text string) { l.fields.Push(text, l.hear) }

// close gives the object as the decoder has put it right, nil where there is none, and says whether it has no end.
func (l *live) close() (doc []byte, open bool) {
	doc, err := l.fields.Close()
	if err != nil {
		return nil, errors.Is(err, decode.ErrTruncated)
	}
	return doc, false
}

func (l *live) hear(path, piece string) {
	name, _, _ := strings.Cut(path, ".")
	t := l.told[name]
	if t == nil || l.say == nil {
		return
	}
	if rest := t.add(path, piece); rest != "" {
		l.say(path, rest)
	}
}

// add gives what the piece adds to what was said.
func (t *telling) add(path, piece string) string {
	mark := ""
	if path != t.path {
		mark = "\x00" + path + "\x00"
	}
	t.path = path
	entry := mark + piece
	known := min(len(t.transcript)-t.at, len(entry))
	if t.off || string(t.transcript[t.at:t.at+known]) != entry[:known] {
		t.off = true
		return ""
	}
	t.at += len(entry)
	t.transcript = append(t.transcript, entry[known:]...)
	return entry[max(known, len(mark)):]
}

package structured

import (
	"errors"
	"strings"

	"github.com/seed889630bf/lastword/internal/decode"
)

// live streams the strings of an object that is still incomplete, over all attempts.
type live struct {
	names       []string
	emit        func(path, piece string)
	fields      *decode.Fields
	transcripts map[string]*transcript
}

// transcript is what was streamed of one field of the object, over all attempts.
type transcript struct {
	sent []byte // the pieces; a change of path stands between zero bytes
	at   int    // position of the current attempt in sent
	path string // path of the current attempt's last piece
	off  bool   // the current attempt differs from sent
}

func newLive(names []string, emit func(path, piece string)) *live {
	l := &live{names: names, emit: emit, transcripts: map[string]*transcript{}}
	for _, name := range names {
		l.transcripts[name] = new(transcript)
	}
	return l
}

// begin starts an attempt.
func (l *live) begin() {
	l.fields = decode.NewFields(l.names...)
	for _, t := range l.transcripts {
		t.at, t.path, t.off = 0, "", false
	}
}

func (l *live) push(text string) { l.fields.Push(text, l.add) }

// close returns the object, repaired by the decoder, or nil if there is none. open: the object is incomplete.
func (l *live) close() (doc []byte, open bool) {
	doc, err := l.fields.Close()
	if err != nil {
		return nil, errors.Is(err, decode.ErrTruncated)
	}
	return doc, false
}

// add passes on what is new of a piece. It ignores fields that are not streamed.
func (l *live) add(path, piece string) {
	name, _, _ := strings.Cut(path, ".")
	t := l.transcripts[name]
	if t == nil || l.emit == nil {
		return
	}
	if rest := t.fresh(path, piece); rest != "" {
		l.emit(path, rest)
	}
}

// fresh returns the part of the piece that was not streamed yet.
func (t *transcript) fresh(path, piece string) string {
	mark := ""
	if path != t.path {
		mark = "\x00" + path + "\x00"
	}
	t.path = path
	entry := mark + piece
	known := min(len(t.sent)-t.at, len(entry))
	if t.off || string(t.sent[t.at:t.at+known]) != entry[:known] {
		t.off = true
		return ""
	}
	t.at += len(entry)
	t.sent = append(t.sent, entry[known:]...)
	return entry[max(known, len(mark)):]
}

package mcp

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// position is where a reader of pages is in a run's log. As text it is a number where that is enough, else
// "seq:stream:task:index:bytes...@part".
type position struct {
	seq uint64 // of the last event that it has whole
	// texts are the open ones that the reader has read: the journal may merge what it has with what comes next, and the
	// event that closes a text has it once more.
	texts []readText
	// part is how many bytes of the next milestone's text, or payload, the reader has.
	part int
}

// readText is how far a text, or with the empty name the log, was read.
type readText struct {
	stream, task string
	index        uint64 // of the delta that comes next
	bytes        int    // of the log, the number of its last line
}

// positionOf reads a position, as a number or a text in JSON. Errors: invalid_input.
func positionOf(raw json.RawMessage) (p position, err error) {
	text := string(raw)
	if len(raw) > 0 && raw[0] == '"' {
		_ = json.Unmarshal(raw, &text) // it came as JSON
	}
	if text == "" {
		return p, nil
	}
	text, part, cut := strings.Cut(text, "@")
	fields := strings.Split(text, ":")
	ok := len(fields)%4 == 1
	number := func(text string, bits int) uint64 {
		n, err := strconv.ParseUint(text, 10, bits)
		ok = ok && err == nil
		return n
	}
	name := func(text string) string {
		name, err := url.QueryUnescape(text)
		ok = ok && err == nil
		return name
	}
	p.seq = number(fields[0], 64)
	if cut {
		p.part = int(number(part, 31))
	}
	for ; ok && len(fields) > 1; fields = fields[4:] {
		p.texts = append(p.texts, readText{name(fields[1]), name(fields[2]), number(fields[3], 63), int(number(fields[4], 31))})
	}
	if !ok {
		return p, messages.InvalidInput("the cursor %.100s is not one that a page had; begin at 0", raw)
	}
	return p, nil
}

// MarshalJSON writes a number where that is enough.
func (p position) MarshalJSON() ([]byte, error) {
	text := strconv.AppendUint(nil, p.seq, 10)
	if len(p.texts) == 0 && p.part == 0 {
		return text, nil
	}
	for _, t := range p.texts {
		text = append(append(append(text, ':'), url.QueryEscape(t.stream)...), ':')
		text = append(append(text, url.QueryEscape(t.task)...), ':')
		text = append(strconv.AppendUint(text, t.index, 10), ':')
		text = strconv.AppendInt(text, int64(t.bytes), 10)
	}
	if p.part > 0 {
		text = strconv.AppendInt(append(text, '@'), int64(p.part), 10)
	}
	return json.Marshal(string(text))
}

// cursor returns where the reader is for what it appends.
func (p position) cursor() messages.Cursor {
	c := messages.Cursor{Seq: p.seq}
	for _, t := range p.texts {
		c.Part(messages.TextDelta{Stream: t.stream, Index: t.index, Offset: t.bytes})
	}
	return c
}

// has reports whether the reader has the whole text of the stream.
func (p position) has(stream, text string) bool {
	return text != "" && slices.ContainsFunc(p.texts, func(t readText) bool { return t.stream == stream && t.bytes == len(text) })
}

// take moves the position past the body of an event.
func (p *position) take(body messages.Body) {
	switch b := body.(type) {
	case messages.TextDelta:
		p.read(readText{b.Stream, b.Task, b.Index + max(b.Count, 1), b.Offset + len(b.Text)})
		return
	case messages.ThoughtDelta:
		p.take(messages.TextDelta(b))
		return
	case messages.Log:
		if n := len(b.Lines); n > 0 {
			p.read(readText{bytes: int(b.Lines[n-1].Number)})
		}
		return
	case messages.Merged:
		for _, part := range b.Parts {
			p.take(part)
		}
		return
	case messages.Progress, messages.ToolProgress:
		return
	}
	kept := map[string]int{}
	rewound := func(readText) bool { return false }
	switch b := body.(type) {
	case messages.TextDone:
		rewound = func(t readText) bool { return t.stream == b.Stream }
	case messages.ThoughtDone:
		rewound = func(t readText) bool { return t.stream == b.Stream }
	case messages.TaskRestarted:
		rewound = func(t readText) bool { return t.task == b.Task }
	case messages.RunRecovered:
		if b.Rewind != nil {
			for _, m := range b.Rewind.Streams {
				kept[m.Stream] = m.Bytes
			}
			rewound = func(t readText) bool { return kept[t.stream] == 0 }
		}
	}
	p.texts = slices.DeleteFunc(p.texts, func(t readText) bool { return t.stream == "" || rewound(t) })
	for i, t := range p.texts {
		if bytes, ok := kept[t.stream]; ok {
			p.texts[i].bytes = bytes
		}
	}
}

func (p *position) read(t readText) {
	p.texts = append(slices.DeleteFunc(p.texts, func(o readText) bool { return o.stream == t.stream }), t)
}

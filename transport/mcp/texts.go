package mcp

import (
	"maps"
	"sync"

	"github.com/seed889630bf/lastword/messages"
)

// texts is how many bytes a reader has of each open text and thought, by its name. The journal merges deltas that a
// reader has had one by one: what it reads next may begin with what it has.
type texts map[string]textPart

type textPart struct {
	bytes int
	task  string
}

func (t texts) clone() texts {
	if t == nil {
		return texts{}
	}
	return maps.Clone(t)
}

// without returns the event without what the reader has of its texts, and whether anything is left; from now on the
// reader has that too.
func (t texts) without(e messages.Event) (messages.Event, bool) {
	switch b := e.Body.(type) {
	case messages.TextDelta:
		d, some := t.cut(b)
		e.Body = d
		return e, some
	case messages.ThoughtDelta:
		d, some := t.cut(messages.TextDelta(b))
		e.Body = messages.ThoughtDelta(d)
		return e, some
	case messages.Merged:
		var parts []messages.Body
		for _, part := range b.Parts {
			if left, some := t.without(messages.Event{Body: part}); some {
				parts = append(parts, left.Body)
			}
		}
		e.Body = messages.Merged{Parts: parts}
		if len(parts) == 1 {
			e.Body = parts[0]
		}
		return e, len(parts) > 0
	case messages.TaskRestarted:
		maps.DeleteFunc(t, func(_ string, p textPart) bool { return p.task == b.Task })
	case messages.RunRecovered:
		t.rewind(b.Rewind)
	}
	return e, true
}

func (t texts) cut(d messages.TextDelta) (messages.TextDelta, bool) {
	had := 0
	if n := t[d.Stream].bytes; n > d.Offset {
		had = min(n-d.Offset, len(d.Text))
	}
	d.Offset, d.Text = d.Offset+had, d.Text[had:]
	t[d.Stream] = textPart{d.Offset + len(d.Text), d.Task}
	return d, d.Text != ""
}

func (t texts) rewind(r *messages.Rewind) {
	if r == nil {
		return
	}
	kept := map[string]int{}
	for _, m := range r.Streams {
		kept[m.Stream] = m.Bytes
	}
	for name, p := range t {
		if n, ok := kept[name]; ok {
			t[name] = textPart{n, p.task}
		} else {
			delete(t, name)
		}
	}
}

// has reports whether the body closes a text that the reader has whole.
func (t texts) has(b messages.Body) bool {
	switch b := b.(type) {
	case messages.TextDone:
		return len(b.Text) > 0 && t[b.Stream].bytes == len(b.Text)
	case messages.ThoughtDone:
		return len(b.Text) > 0 && t[b.Stream].bytes == len(b.Text)
	}
	return false
}

func (t texts) close(b messages.Body) {
	switch b := b.(type) {
	case messages.TextDone:
		delete(t, b.Stream)
	case messages.ThoughtDone:
		delete(t, b.Stream)
	}
}

// mostCursors is how many readers' cursors are remembered with what they have of open texts. A reader that is
// forgotten gets merged texts whole, with their offset.
const mostCursors = 4096

type cursor struct {
	run   messages.RunID
	after uint64
}

// cursors remembers what readers have.
type cursors struct {
	mu    sync.Mutex
	texts map[cursor]texts
	order []cursor
}

func (c *cursors) get(at cursor) texts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.texts[at].clone()
}

func (c *cursors) put(at cursor, t texts) {
	if len(t) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.texts == nil {
		c.texts = map[cursor]texts{}
	}
	if _, there := c.texts[at]; !there {
		c.order = append(c.order, at)
	}
	c.texts[at] = t
	if len(c.order) > mostCursors {
		delete(c.texts, c.order[0])
		c.order = c.order[1:]
	}
}

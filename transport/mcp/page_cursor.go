package mcp

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/cursor"
)

// pageCursor is a reader's position in a run, for tools that return pages. Its text is a number if that suffices.
// Otherwise it is a cursor, followed by "!" if all is set, and by "@" and part.
type pageCursor struct {
	cursor.Cursor
	// all says that the reader has every delta up to here, so that the event that closes a text need not repeat it.
	all bool
	// part is how many bytes of the next event's text or payload the reader has.
	part int
}

// parsePageCursor parses a cursor from a JSON number or string. Errors: invalid_input.
func parsePageCursor(run messages.RunID, raw json.RawMessage) (p pageCursor, err error) {
	text := string(raw)
	if len(raw) > 0 && raw[0] == '"' {
		_ = json.Unmarshal(raw, &text) // it is valid JSON
	}
	text, part, cut := strings.Cut(text, "@")
	if cut {
		if p.part, err = strconv.Atoi(part); err != nil || p.part < 0 {
			return p, messages.InvalidInput("the cursor %.100s is not from a page; begin at 0", raw)
		}
	}
	text, p.all = strings.CutSuffix(text, "!")
	at, err := cursor.Parse(run, text)
	p.Cursor = at[run]
	p.all = p.all || p.Seq == 0
	return p, err
}

// MarshalJSON writes a number if that suffices, else a string.
func (p pageCursor) MarshalJSON() ([]byte, error) {
	text := p.Append(nil)
	if p.all && p.Seq > 0 {
		text = append(text, '!')
	}
	if p.part > 0 {
		text = strconv.AppendInt(append(text, '@'), int64(p.part), 10)
	}
	if _, err := strconv.ParseUint(string(text), 10, 64); err == nil {
		return text, nil
	}
	return json.Marshal(string(text))
}

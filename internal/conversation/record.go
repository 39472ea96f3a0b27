package conversation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages/model"
)

// format is the version of the log's format. Logs of newer versions are read-only.
const format = 1

// record is a line of a log. The first line names the conversation.
type record struct {
	At     time.Time `json:"at"`
	Format int       `json:"format,omitempty"`
	ID     string    `json:"id,omitempty"`
	From   string    `json:"from,omitempty"` // the conversation that this one was forked from
	Title  string    `json:"title,omitempty"`

	// Turn is the number of the turn that wrote the record. Begin is in the first record of a turn.
	Turn     int             `json:"turn,omitempty"`
	Begin    *begin          `json:"begin,omitempty"`
	Messages []model.Message `json:"messages,omitempty"`
	Tainted  bool            `json:"tainted,omitempty"`
	Allowed  string          `json:"allowed,omitempty"` // pin of a tool
	Summary  *summary        `json:"summary,omitempty"`
	// End is "completed", or why the turn did not complete.
	End string `json:"end,omitempty"`
}

// begin is how a turn began.
type begin struct {
	Owner  string    `json:"owner"`
	Until  time.Time `json:"until"`
	System string    `json:"system,omitempty"`
	Folder string    `json:"folder,omitempty"`
	// Held says that the process holds the log's lock. When it dies, others see that.
	Held bool `json:"held,omitempty"`
}

// summary replaces the first messages.
type summary struct {
	Text   string `json:"text"`
	Covers int    `json:"covers"`
}

const completed = "completed"

// state is the sum of the lines of a log.
type state struct {
	id, from, title string
	format, damaged int
	bytes           int64 // number of bytes in the lines
	created         time.Time
	updated         time.Time
	messages        []model.Message
	summary         *summary
	system, folder  string
	tainted         bool
	allowed         []string

	turn   int // number of the last turn
	open   bool
	begun  time.Time
	owner  begin
	first  int      // index of the last turn's first message
	before *summary // summary at the beginning of the last turn
}

// read adds whole lines. What follows the last line end is still being written, or was cut off.
func (s *state) read(data []byte) {
	end := bytes.LastIndexByte(data, '\n') + 1
	s.bytes += int64(end)
	for line := range bytes.Lines(data[:end]) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var r record
		if json.Unmarshal(line, &r) != nil {
			s.damaged++
			continue
		}
		s.add(r)
	}
}

// add applies a record to the state. Records of a turn that another one has replaced are ignored.
func (s *state) add(r record) {
	switch {
	case r.Turn == 0:
		s.about(r)
	case r.Begin != nil:
		s.begin(r)
	case r.Turn > s.turn: // the beginning of that turn cannot be read
		r.Begin = &begin{}
		s.begin(r)
	case s.open && r.Turn == s.turn:
		s.say(r)
	}
}

// about adds what does not belong to a turn.
func (s *state) about(r record) {
	if r.ID != "" && s.id == "" {
		s.id, s.from, s.format, s.created, s.updated = r.ID, r.From, r.Format, r.At, r.At
	}
	if r.Title != "" {
		s.title = r.Title
	}
}

// begin ignores a turn whose number is taken: the second of two that began at the same time.
func (s *state) begin(r record) {
	if r.Turn <= s.turn {
		return
	}
	if s.turn > 0 && s.owner.Owner == r.Begin.Owner && s.owner.Owner != "" { // the same turn starts again from its beginning
		s.messages, s.summary = slices.Clip(s.messages[:s.first]), s.before
	} else if s.open && r.At.Before(s.owner.Until) {
		s.end("its process has ended")
	} else if s.open {
		s.end("its time has passed")
	}
	s.turn, s.open, s.begun, s.owner, s.first, s.before = r.Turn, true, r.At, *r.Begin, len(s.messages), s.summary
	if r.Begin.System != "" {
		s.system = r.Begin.System
	}
	s.folder = cmp.Or(r.Begin.Folder, s.folder)
	s.say(r)
}

// busy reports whether a turn of another owner has the conversation.
func (s *state) busy(owner string, when time.Time) bool {
	return s.open && s.owner.Owner != owner && when.Before(s.owner.Until)
}

// say applies what a turn has said.
func (s *state) say(r record) {
	s.updated = r.At
	s.messages = append(s.messages, r.Messages...)
	s.tainted = s.tainted || r.Tainted
	if r.Allowed != "" {
		s.allowed = append(s.allowed, r.Allowed)
	}
	if r.Summary != nil && r.Summary.Covers >= 0 && r.Summary.Covers <= len(s.messages) {
		s.summary = r.Summary
	}
	if r.End != "" {
		s.end(r.End)
	}
}

func (s *state) end(reason string) {
	s.open = false
	if reason != completed {
		note := "(This turn was interrupted: " + strings.ReplaceAll(reason, "_", " ") + ".)"
		s.messages = append(s.messages, model.Message{Role: model.Assistant, Content: note})
	}
}

// history returns the messages for the model.
func (s *state) history() []model.Message {
	if s.summary == nil {
		return slices.Clone(s.messages)
	}
	return Summarized(s.messages, s.summary.Text, s.summary.Covers)
}

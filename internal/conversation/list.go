package conversation

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// Info describes a conversation in a list.
type Info struct {
	ID    string `json:"id"`
	From  string `json:"from,omitempty"` // the conversation that this one was forked from
	Title string `json:"title"`          // given by the user, or else the user's first words
	// Folder is the user's working folder, from the last turn that names one.
	Folder string `json:"folder,omitempty"`
	// Created is when the first turn began. Updated is when the last message was added.
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Turns    int       `json:"turns"`
	Messages int       `json:"messages"`
	// Bytes is the size of the history with which the next turn begins. A token has at least 3 bytes.
	Bytes   int  `json:"bytes"`
	Tainted bool `json:"tainted,omitempty"`
	// Owner is the turn that has the conversation, or "".
	Owner string `json:"owner,omitempty"`
	// Damaged is the number of lines in the log that cannot be read.
	Damaged int `json:"damaged,omitempty"`
}

// List returns the conversations, the most recently updated first.
func (s *Store) List() ([]Info, error) { return s.Search("") }

// Search returns the conversations that contain the text, ignoring case, in the order of List.
func (s *Store) Search(text string) (list []Info, err error) {
	text = strings.ToLower(text)
	has := func(s string) bool { return strings.Contains(strings.ToLower(s), text) }
	ids, err := s.place.ids()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		c, err := s.load(id)
		if messages.CodeOf(err) == messages.CodeNotFound {
			continue // removed meanwhile
		}
		if err != nil {
			return nil, err
		}
		if has(c.title) || slices.ContainsFunc(c.messages, func(m model.Message) bool { return has(m.Content) }) {
			list = append(list, c.info(id))
		}
	}
	stable.Sort(list, func(a, b Info) int {
		return cmp.Or(b.Updated.Compare(a.Updated), strings.Compare(b.ID, a.ID))
	})
	return list, nil
}

// Find returns the id that begins with the prefix. If there are several, the error names some.
func (s *Store) Find(prefix string) (string, error) {
	ids, err := s.place.ids()
	if err != nil || slices.Contains(ids, prefix) {
		return prefix, err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, prefix) })
	switch len(ids) {
	case 0:
		return "", notFound(prefix)
	case 1:
		return ids[0], nil
	}
	return "", messages.InvalidInput("%d conversations begin with %q: %s; give more of the id", len(ids), prefix,
		strings.Join(ids[:min(len(ids), 5)], ", "))
}

// Read returns a conversation with all its messages.
func (s *Store) Read(id string) (Info, []model.Message, error) {
	c, err := s.load(id)
	return c.info(id), c.messages, err
}

// Rename gives a conversation a new title.
func (s *Store) Rename(id, title string) error {
	return s.with(id, func(j journal, _ *state) error {
		if title = strings.TrimSpace(title); title == "" || !utf8.ValidString(title) {
			return messages.InvalidInput("the title must be a text")
		}
		return write(j, record{Title: title})
	})
}

// Delete removes a conversation, unless a turn has it.
func (s *Store) Delete(id string) error {
	return s.with(id, func(j journal, c *state) error {
		if c.busy("", time.Now()) && !(j.hold() && c.owner.Held) {
			return c.busyError(id)
		}
		return s.place.remove(id)
	})
}

// Fork copies the first turns into a new conversation, and returns its id. 0 copies all. It leaves out a turn that
// has not ended.
func (s *Store) Fork(id string, turns int) (string, error) {
	c, err := s.load(id)
	if err != nil {
		return "", err
	}
	history := c.messages
	if c.open {
		history = history[:c.first]
	}
	begun := 0
	for i, m := range history {
		if m.Role != model.User {
			continue
		}
		if begun++; turns > 0 && begun > turns {
			history = history[:i]
			break
		}
	}
	if c.summary != nil && c.summary.Covers > len(history) { // it also tells of turns that are not copied
		c.summary = nil
	}
	other := NewID()
	j, err := s.place.open(other, true)
	if err != nil {
		return "", err
	}
	defer j.Close()
	now := time.Now().UTC()
	for _, r := range []record{{Format: format, ID: other, From: id, Title: c.title},
		{Turn: 1, Begin: &begin{Until: now, System: c.system, Folder: c.folder}, Messages: history, Tainted: c.tainted,
			Summary: c.summary},
		{Turn: 1, End: completed}} {
		if err := write(j, r); err != nil {
			return "", err
		}
	}
	return other, j.sync()
}

// Export writes a conversation as Markdown. It leaves out lines of the log that cannot be read, and says so.
func (s *Store) Export(w io.Writer, id string) error {
	c, err := s.load(id)
	if err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", c.info(id).Title)
	if c.damaged > 0 {
		fmt.Fprintf(&b, "\nLines that cannot be read, and are left out: %d\n", c.damaged)
	}
	for _, m := range c.messages {
		text := strings.TrimSpace(m.Content)
		if m.Role == model.ToolRole {
			text = fenced(text)
		}
		fmt.Fprintf(&b, "\n## %s\n", m.Role)
		if text != "" {
			fmt.Fprintf(&b, "\n%s\n", text)
		}
		for _, call := range m.Calls {
			fmt.Fprintf(&b, "\n%s\n\n%s\n", call.Name, fenced(call.Arguments))
		}
	}
	_, err = io.WriteString(w, b.String())
	return err
}

// fenced puts the text between fences that are longer than any in it.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}

// info summarizes the conversation for a list. Without a title it has the first line of the first message.
func (c *state) info(id string) Info {
	i := Info{ID: id, From: c.from, Title: c.title, Folder: c.folder, Created: c.created, Updated: c.updated, Messages: len(c.messages),
		Tainted: c.tainted, Damaged: c.damaged}
	if c.open {
		i.Owner = c.owner.Owner
	}
	for _, m := range c.messages {
		if m.Role != model.User {
			continue
		}
		if i.Turns++; i.Title == "" {
			first, _, _ := strings.Cut(strings.TrimSpace(m.Content), "\n")
			i.Title = words.Clip(first, 80)
		}
	}
	for _, m := range c.history() {
		i.Bytes += len(m.Content)
	}
	return i
}

func (s *Store) load(id string) (c state, err error) {
	err = s.with(id, func(_ journal, loaded *state) error { c = *loaded; return nil })
	return c, err
}

// with calls do with an existing conversation.
func (s *Store) with(id string, do func(j journal, c *state) error) error {
	if CheckID(id) != nil {
		return notFound(id)
	}
	j, err := s.place.open(id, false)
	if err != nil {
		return err
	}
	if j == nil {
		return notFound(id)
	}
	defer j.Close()
	data, err := j.after(0)
	if err != nil {
		return err
	}
	var c state
	c.read(data)
	return do(j, &c)
}

func notFound(id string) error {
	return messages.Errorf(messages.CodeNotFound, "there is no conversation %.80q", id)
}

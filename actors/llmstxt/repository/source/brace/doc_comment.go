package brace

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/surface"
)

// DocStyle says which comments document, and in which markup.
type DocStyle struct {
	Plain bool                // a plain comment on the lines above documents, too
	Inner bool                // //! and /*! tell of what they stand in
	Text  func(string) string // takes the markup out; nil keeps it
}

// No more of a comment is read.
const maxComment = 8 << 10

// CommentForm says whom a comment is for.
type CommentForm uint8

// The forms of comments.
const (
	PlainForm CommentForm = iota
	DocForm               // /** or ///
	InnerForm             // /*! or //!
)

// Form tells comments that document from others.
func (s *File) Form(n Note) CommentForm {
	text := string(s.Text[n.Start:min(n.Start+4, n.Stop)])
	switch {
	case strings.HasPrefix(text, "/*!"), strings.HasPrefix(text, "//!"):
		if s.Docs.Inner {
			return InnerForm
		}
		return DocForm
	case text == "/***", text == "/**/", text == "////":
		return PlainForm
	case strings.HasPrefix(text, "/**"), strings.HasPrefix(text, "///"):
		return DocForm
	}
	return PlainForm
}

// Doc is the summary of the documentation of the declaration that begins at token i, before or behind its attributes.
func (s *File) Doc(i int) string {
	if text := s.Comment(s.gap(i), s.At(i).Line); text != "" {
		return s.Summary(text)
	}
	next := s.Attributes(i)
	for j := i + 1; j <= next; j++ {
		if text := s.Comment(s.gap(j), s.At(j).Line); text != "" {
			return s.Summary(text)
		}
	}
	return ""
}

func (s *File) Summary(text string) string {
	if s.Docs.Text != nil {
		text = s.Docs.Text(text)
	}
	text = surface.Summary(text)
	if isAside(text) {
		return ""
	}
	return text
}

// isAside tells comments that speak to tools and to the developers.
func isAside(text string) bool {
	low := strings.ToLower(text[:min(len(text), 40)])
	if prose.StartsWithAny(low, "eslint", "@ts-", "ts-ignore", "prettier", "istanbul", "c8 ignore", "v8 ignore",
		"todo", "fixme", "xxx", "hack", "nolint", "noinspection", "clang-format", "cppcheck", "webpack", "swiftlint",
		"jshint", "jslint", "phpcs", "biome", "#region", "#endregion", "#__pure__", "<reference", "!/", "region ",
		"endregion", "rustfmt", "resharper") {
		return true
	}
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 'A' })
}

// gap is the notes right before token i, without those that trail the line of the token before.
func (s *File) gap(i int) []Note {
	t, before := s.At(i), Token{}
	if i > 0 {
		before = s.At(i - 1)
	}
	notes := s.Notes[min(before.Notes, t.Notes):t.Notes]
	for len(notes) > 0 && i > 0 && notes[0].Line == before.Last && notes[0].Line != t.Line {
		notes = notes[1:]
	}
	return notes
}

// Comment is the text of the last of the comments that documents what begins on the line.
func (s *File) Comment(notes []Note, line int32) string {
	for i := len(notes) - 1; i >= 0 && i >= len(notes)-20; i-- {
		if notes[i].Kind == Directive {
			break
		}
		if s.Form(notes[i]) == DocForm {
			return s.Comments(s.run(notes[:i+1]))
		}
	}
	if n := len(notes); n > 0 && s.Docs.Plain && notes[n-1].Kind != Directive && s.Form(notes[n-1]) == PlainForm &&
		line-notes[n-1].Last <= 1 {
		return s.Comments(s.run(notes))
	}
	return ""
}

// run is the last of the notes, with those that continue it line by line.
func (s *File) run(notes []Note) []Note {
	last := len(notes) - 1
	from := last
	for from > 0 && notes[from].Kind == LineComment && notes[from-1].Kind == LineComment &&
		notes[from].Line-notes[from-1].Line <= 1 && s.Form(notes[from-1]) == s.Form(notes[last]) {
		from--
	}
	return notes[from:]
}

// Comments is the text of a run of comments without their markers.
func (s *File) Comments(run []Note) string {
	var b strings.Builder
	for _, n := range run {
		if b.Len() > maxComment {
			break
		}
		text := string(s.Text[n.Start:min(n.Stop, n.Start+maxComment)])
		if n.Kind == LineComment {
			text = strings.TrimLeft(text, "/")
			text = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(text, "!"), "<"), "#")
			b.WriteString(strings.TrimPrefix(text, " "))
			b.WriteByte('\n')
			continue
		}
		BlockText(&b, text)
	}
	return b.String()
}

func BlockText(b *strings.Builder, text string) {
	text = strings.TrimSuffix(text, "*/")
	text = strings.TrimLeft(strings.TrimPrefix(text, "/"), "*")
	text = strings.TrimPrefix(strings.TrimPrefix(text, "!"), "<")
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimRight(line, " \t\n*"), " \t")
		line = strings.TrimLeft(line, "*")
		b.WriteString(strings.TrimPrefix(line, " "))
		b.WriteByte('\n')
	}
}

// IsInternal tells declarations that their documentation keeps from others.
func (s *File) IsInternal(i int) bool {
	for _, n := range s.gap(i) {
		if s.Form(n) != DocForm {
			continue
		}
		text := string(s.Text[n.Start:min(n.Stop, n.Start+maxComment)])
		if prose.ContainsAny(text, "@internal", "@private", "@api private", "@hidden") {
			return true
		}
	}
	return false
}

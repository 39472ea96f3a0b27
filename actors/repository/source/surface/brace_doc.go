package surface

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// docStyle says which comments document, and in which markup.
type docStyle struct {
	plain bool                // a plain comment on the lines above documents, too
	inner bool                // //! and /*! tell of what they stand in
	text  func(string) string // takes the markup out; nil keeps it
}

// No more of a comment is read.
const maxComment = 8 << 10

type commentForm uint8

const (
	plainForm commentForm = iota
	docForm               // /** or ///
	innerForm             // /*! or //!
)

func (s *source) form(n note) commentForm {
	text := string(s.text[n.start:min(n.start+4, n.stop)])
	switch {
	case n.kind == directive:
		return plainForm
	case strings.HasPrefix(text, "/*!"), strings.HasPrefix(text, "//!"):
		if s.docs.inner {
			return innerForm
		}
		return docForm
	case text == "/***", text == "/**/", text == "////":
		return plainForm
	case strings.HasPrefix(text, "/**"), strings.HasPrefix(text, "///"):
		return docForm
	}
	return plainForm
}

// doc is the summary of the documentation of the declaration that begins at token i, before or behind its attributes.
func (s *source) doc(i int) string {
	if text := s.comment(s.gap(i), s.at(i).line); text != "" {
		return s.summary(text)
	}
	next := s.attributes(i)
	for j := i + 1; j <= next; j++ {
		if text := s.comment(s.gap(j), s.at(j).line); text != "" {
			return s.summary(text)
		}
	}
	return ""
}

func (s *source) summary(text string) string {
	if s.docs.text != nil {
		text = s.docs.text(text)
	}
	text = summary(text)
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
func (s *source) gap(i int) []note {
	t, before := s.at(i), token{}
	if i > 0 {
		before = s.at(i - 1)
	}
	notes := s.notes[min(before.notes, t.notes):t.notes]
	for len(notes) > 0 && i > 0 && notes[0].line == before.last && notes[0].line != t.line {
		notes = notes[1:]
	}
	return notes
}

// comment is the text of the last of the comments that documents what begins on the line.
func (s *source) comment(notes []note, line int32) string {
	for i := len(notes) - 1; i >= 0 && i >= len(notes)-20; i-- {
		if notes[i].kind == directive {
			break
		}
		if s.form(notes[i]) == docForm {
			return s.comments(s.run(notes[:i+1]))
		}
	}
	if n := len(notes); n > 0 && s.docs.plain && notes[n-1].kind != directive && s.form(notes[n-1]) == plainForm &&
		line-notes[n-1].last <= 1 {
		return s.comments(s.run(notes))
	}
	return ""
}

// run is the last of the notes, with those that continue it line by line.
func (s *source) run(notes []note) []note {
	last := len(notes) - 1
	from := last
	for from > 0 && notes[from].kind == lineComment && notes[from-1].kind == lineComment &&
		notes[from].line-notes[from-1].line <= 1 && s.form(notes[from-1]) == s.form(notes[last]) {
		from--
	}
	return notes[from:]
}

// comments is the text of a run of comments without their markers.
func (s *source) comments(run []note) string {
	var b strings.Builder
	for _, n := range run {
		if b.Len() > maxComment {
			break
		}
		text := string(s.text[n.start:min(n.stop, n.start+maxComment)])
		if n.kind == lineComment {
			text = strings.TrimLeft(text, "/")
			text = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(text, "!"), "<"), "#")
			b.WriteString(strings.TrimPrefix(text, " "))
			b.WriteByte('\n')
			continue
		}
		blockText(&b, text)
	}
	return b.String()
}

func blockText(b *strings.Builder, text string) {
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

// fileDoc is what the comments at the top of the file say, licences aside. Below a first directive only one that says
// that it is about the file counts. A comment that touches the first declaration belongs to that, unless "begin"
// tells that it is none but an import or the like.
func (s *source) fileDoc(begin func(i int) bool) string {
	top := s.notes[:s.at(0).notes]
	first, late := s.at(0).line, false
	for len(top) > 0 {
		run := s.head(top)
		last := run[len(run)-1]
		top = top[len(run):]
		if run[0].kind == directive {
			name, _ := directiveWords(s.text[run[0].start:run[0].stop])
			late = late || name == "define" || name == "include"
			continue
		}
		if late && !saysFile(s.comments(run[:1])) {
			break
		}
		if len(s.tokens) > 0 && len(top) == 0 && first-last.last <= 1 && !begin(0) {
			continue
		}
		if text := s.fileText(s.comments(run)); text != "" {
			return text
		}
	}
	return ""
}

// head is the first of the notes, with the lines that continue it.
func (s *source) head(notes []note) []note {
	to := 1
	for to < len(notes) && notes[to].kind == lineComment && notes[0].kind == lineComment &&
		notes[to].line-notes[to-1].line <= 1 {
		to++
	}
	return notes[:to]
}

func (s *source) fileText(text string) string {
	if isLegal(text) || isGenerated(text) {
		return ""
	}
	if s.docs.text != nil {
		text = s.docs.text(text)
	}
	text = docText(text)
	if isAside(text) || !strings.Contains(prose.Tidy(text), " ") {
		return ""
	}
	return text
}

func saysFile(text string) bool {
	return strings.Contains(text, "@file") || strings.Contains(text, `\file`)
}

// isGenerated tells what tools write on top of their files.
func isGenerated(text string) bool {
	low := strings.ToLower(text[:min(len(text), 400)])
	return strings.Contains(low, "generated by") || strings.Contains(low, "do not edit") || strings.Contains(low,
		"public domain") || strings.HasPrefix(low, "@flow") || strings.Contains(low, "this file is part of")
}

// isInternal tells declarations that their documentation keeps from others.
func (s *source) isInternal(i int) bool {
	for _, n := range s.gap(i) {
		if n.kind == directive || s.form(n) != docForm {
			continue
		}
		text := string(s.text[n.start:min(n.stop, n.start+maxComment)])
		if prose.ContainsAny(text, "@internal", "@private", "@api private", "@hidden") {
			return true
		}
	}
	return false
}

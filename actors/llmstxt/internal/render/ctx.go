package render

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/sanitize"
	"github.com/seed889630bf/lastword/internal/stable"
)

// Ctx writes llms-ctx.txt: a project element with one element per section, which has one doc element per linked file.
// Format 1 leaves out the Optional section, as that version requires. Models read the file, so the text of a file is
// unescaped, except for what would end its element. dropped lists the files that the budget had no room for. The
// error is the cause of ctx, or the error of w.
func Ctx(
	ctx context.Context, w io.Writer, files fs.FS, index *rank.Index, format Format, pack Pack,
) (dropped []string, err error) {
	b := bufio.NewWriterSize(w, 64<<10)
	v := newCleaned(index)
	if format == Format1 {
		v.sections = stable.DeleteFunc(v.sections, func(s Section) bool { return s.Name == rank.Optional })
	}
	pack.Rest = nil
	front := v.ctxFront()
	b.WriteString(front)
	p := newPacking(ctx, files, v, pack)
	p.block = ctxBlock
	open := -1 // no section is open
	turnTo := func(next int) {
		if next == open {
			return
		}
		if open >= 0 {
			b.WriteString(sectionEnd(v.sections[open]))
		}
		if next >= 0 {
			b.WriteString(sectionStart(v.sections[next]))
		}
		open = next
	}
	var around strings.Builder
	around.WriteString(front + projectEnd)
	for _, s := range v.sections {
		around.WriteString(sectionStart(s) + sectionEnd(s))
	}
	if err = p.write(b, around.String(), func(i int) { turnTo(p.entries[i].section) }); err != nil {
		return nil, err
	}
	turnTo(-1)
	b.WriteString(p.more() + projectEnd)
	return p.dropped, b.Flush()
}

const projectEnd = "</project>\n"

// ctxFront returns the start tag of the project, with the details below it.
func (v cleaned) ctxFront() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<project title=\"%s\" summary=\"%s\">\n", attribute(v.title), attribute(v.summary))
	for _, line := range v.details {
		fmt.Fprintf(&b, "- %s\n", escapeXML.Replace(line))
	}
	return b.String()
}

func sectionStart(s Section) string { return "<" + s.tag + ">\n" }

func sectionEnd(s Section) string { return "</" + s.tag + ">\n" }

// ctxBlock writes the doc element of a file. In the text it escapes only what would end the element.
func ctxBlock(b *bytes.Buffer, e entry, f sanitize.Text) {
	fmt.Fprintf(b, "<doc title=\"%s\"", attribute(e.link.Title))
	if e.link.Note != "" {
		fmt.Fprintf(b, " desc=\"%s\"", attribute(e.link.Note))
	}
	switch {
	case f.Absent != "":
		fmt.Fprintf(b, " absent=\"%s\"", attribute(f.Absent))
	case f.Cut > 0:
		fmt.Fprintf(b, " cut=\"%d bytes\"", f.Cut)
	}
	b.WriteString(">\n")
	b.Write(bytes.ReplaceAll(f.Text, []byte("</doc"), []byte("&lt;/doc")))
	if len(f.Text) > 0 && f.Text[len(f.Text)-1] != '\n' {
		b.WriteByte('\n')
	}
	b.WriteString("</doc>\n")
}

// escapeXML leaves quotes and line ends as they are.
var escapeXML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func attribute(s string) string { return strings.ReplaceAll(escapeXML.Replace(s), `"`, "&quot;") }

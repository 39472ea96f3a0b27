package render

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
)

// Ctx writes llms-ctx.txt: a project element with one element per section, in
// it a doc element per linked file. The Optional section is left out, as the
// format has it. The result is well-formed XML whatever the files hold. The
// error is ctx's cause or w's.
func Ctx(ctx context.Context, w io.Writer, files fs.FS, index *rank.Index, bounds Bounds) error {
	b := bufio.NewWriter(w)
	v := newView(index)
	fmt.Fprintf(b, "<project title=\"%s\" summary=\"%s\">\n", attribute(v.title), attribute(v.summary))
	for _, line := range v.details {
		fmt.Fprintf(b, "- %s\n", content(line))
	}
	texts := newTexts(ctx, files, bounds)
	for _, s := range v.sections {
		if s.name == rank.Optional {
			continue
		}
		if err := writeSection(b, texts, s); err != nil {
			return err
		}
	}
	b.WriteString("</project>\n")
	return b.Flush()
}

func writeSection(b *bufio.Writer, texts *texts, s section) error {
	tag := strings.ToLower(s.name)
	fmt.Fprintf(b, "<%s>\n", tag)
	for _, l := range s.links {
		f, err := texts.take(l.path)
		if err != nil {
			return err
		}
		writeDoc(b, l, f)
	}
	fmt.Fprintf(b, "</%s>\n", tag)
	return nil
}

func writeDoc(b *bufio.Writer, l link, f fileText) {
	fmt.Fprintf(b, "<doc title=\"%s\"", attribute(l.title))
	if l.note != "" {
		fmt.Fprintf(b, " desc=\"%s\"", attribute(l.note))
	}
	switch {
	case f.absent != "":
		fmt.Fprintf(b, " absent=\"%s\"", attribute(f.absent))
	case f.cut > 0:
		fmt.Fprintf(b, " cut=\"%d bytes\"", f.cut)
	}
	b.WriteString(">\n")
	b.WriteString(content(f.text))
	if f.text != "" && !strings.HasSuffix(f.text, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString("</doc>\n")
}

// content escapes plain text. It leaves quotes and line ends as they are, for
// models read it.
func content(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

func attribute(s string) string {
	return strings.ReplaceAll(content(s), `"`, "&quot;")
}

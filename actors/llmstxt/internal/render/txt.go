package render

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/sanitize"
)

// Format is a version of the llms.txt format. Both versions have the same text; they differ in the meaning of
// Optional.
type Format int

const (
	// Format1 is the version of 2024: files under Optional are left out of llms-ctx.txt.
	Format1 Format = 1
	// Format2 is the version of August 2026: a reader may skip Optional, but nothing skips it for the reader.
	Format2 Format = 2
)

// Txt writes llms.txt. It leaves out links without a URL, and sections without links. Only w causes errors.
func Txt(w io.Writer, index *rank.Index) error {
	var b bytes.Buffer
	v := newCleaned(index)
	b.WriteString(v.front())
	for _, s := range v.sections {
		fmt.Fprintf(&b, "\n## %s\n\n", sanitize.Heading(s.Name))
		for _, l := range s.Links {
			fmt.Fprintf(&b, "- [%s](%s)", sanitize.LinkTitle(l.Title), l.URL)
			if l.Note != "" {
				b.WriteString(": " + sanitize.Inline(l.Note))
			}
			b.WriteByte('\n')
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// front returns the text before the sections. The details are never empty, because without them common parsers take
// the summary for details.
func (v cleaned) front() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", sanitize.Heading(v.title))
	if v.summary != "" {
		fmt.Fprintf(&b, "> %s\n\n", sanitize.Paragraph(v.summary))
	}
	for _, line := range v.details {
		fmt.Fprintf(&b, "- %s\n", sanitize.Paragraph(line))
	}
	return b.String()
}

// linkURL percent-encodes characters that must not occur in the destination of a Markdown link. A text that is
// neither an http or https URL nor a relative one becomes a relative path of the same characters.
func linkURL(s string) string {
	encoded := encodeURL(s)
	u, err := url.Parse(encoded)
	if s != "" && (err != nil || u.Scheme != "" && (u.Scheme != "http" && u.Scheme != "https" || u.Host == "")) {
		return "./" + strings.ReplaceAll(encodeURL(strings.ReplaceAll(s, "%", "%25")), ":", "%3A")
	}
	return encoded
}

// encodeURL percent-encodes the bytes that a link may not contain. It keeps what is encoded already.
func encodeURL(s string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '%' && !isEncoded(s[i:]), c <= ' ', c >= 0x7f, strings.IndexByte("()[]<>\"\\`{}|^*", c) >= 0:
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func isEncoded(s string) bool {
	const hex = "0123456789abcdefABCDEF"
	return len(s) > 2 && strings.IndexByte(hex, s[1]) >= 0 && strings.IndexByte(hex, s[2]) >= 0
}

// unique makes the names unique without regard to case.
func unique(names []string) []string {
	used := make(map[string]bool)
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = name
		for n := 2; used[strings.ToLower(list[i])]; n++ {
			list[i] = name + "-" + strconv.Itoa(n)
		}
		used[strings.ToLower(list[i])] = true
	}
	return list
}

// oneWord turns a name into an XML name of one word, in ASCII. Where that is impossible, it begins with Section.
func oneWord(name string) string {
	name = strings.Join(strings.FieldsFunc(name, func(r rune) bool {
		return r >= 0x80 || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	}), "-")
	switch {
	case name == "":
		return "Section"
	case !unicode.IsLetter(rune(name[0])) || strings.HasPrefix(strings.ToLower(name), "xml"):
		return "Section-" + name
	}
	return name
}

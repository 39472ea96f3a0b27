package llmstxt

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/sanitize"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/messages"
)

// memory is what an earlier run has offered: digests of links, of their texts, of the summary and of the whole file. A
// link that was offered and is absent was deleted by a person; a text that differs is a person's.
type memory struct {
	whole   string // digest of the file; "" if it holds words of people, whose order then stays
	summary string
	texts   map[string]string // digests of title and note, by the digest of the link
	order   []string          // digests of links
}

// The comment that holds the memory is the end of the last link's line, because readers stop at any other line. It has
// room for 70 links.
const (
	memoryStart = " <!-- lastword:"
	memoryEnd   = " -->"
	mostMemory  = 400

	wholeSize, summarySize, linkSize, textSize = 4, 2, 3, 2 // characters, of six bits each
)

// cutMemory returns the text without the comment, and what the comment holds.
func cutMemory(text string) (rest, code string) {
	before, after, found := strings.Cut(text, memoryStart)
	code, after, closed := strings.Cut(after, memoryEnd)
	if !found || !closed || strings.Contains(code, "\n") {
		return text, ""
	}
	if strings.HasSuffix(before, "):") { // there is no note
		before = before[:len(before)-1]
	}
	return before + after, code
}

func digest(size int, parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\n")))
	return base64.RawURLEncoding.EncodeToString(sum[:])[:size]
}

func digestOfLink(path, url string) string {
	_, part, _ := strings.Cut(url, "#")
	return digest(linkSize, cmp.Or(sanitize.Line(path), url), part)
}

// parseMemory reads what a comment holds. It returns nil if that is no memory.
func parseMemory(code string) *memory {
	if len(code) < wholeSize+summarySize {
		return nil
	}
	m := &memory{whole: code[:wholeSize], summary: code[wholeSize:][:summarySize], texts: map[string]string{}}
	for rest := code[wholeSize+summarySize:]; len(rest) >= linkSize+textSize; rest = rest[linkSize+textSize:] {
		m.add(rest[:linkSize], rest[linkSize:][:textSize])
	}
	return m
}

func (m *memory) add(link, text string) {
	if _, known := m.texts[link]; !known {
		m.order = append(m.order, link)
	}
	m.texts[link] = text
}

// memoryOf returns what the llms.json of an earlier run says of a file that has no comment.
func memoryOf(d *Document, text string) *memory {
	if d == nil {
		return nil
	}
	m := &memory{summary: digest(summarySize, d.Summary), texts: map[string]string{}}
	kept := d.SummaryReason == ownReason
	if kept {
		m.summary = ""
	}
	for _, s := range d.Sections {
		for _, l := range s.Links {
			if slices.Contains(l.Reasons, ownReason) {
				kept = true
			} else {
				m.add(digestOfLink(l.Path, l.URL), digest(textSize, prose.Unescape(sanitize.LinkTitle(l.Title)), prose.Unescape(sanitize.Inline(l.Note))))
			}
		}
	}
	if sum := messages.Digest(text); !kept && slices.ContainsFunc(d.Artifacts, func(a Artifact) bool { return a.Name == NameTxt && a.SHA256 == sum }) {
		m.whole = digest(wholeSize, text)
	}
	return m
}

// offered reports whether the run has offered the link.
func (m *memory) offered(link string) bool { return m != nil && m.texts[link] != "" }

// wrote reports whether the run has offered the link with this title and note.
func (m *memory) wrote(link string, l TxtLink) bool {
	return m.offered(link) && m.texts[link] == digest(textSize, l.Title, l.Note)
}

// kept is what of an existing llms.txt goes into the new one.
type kept struct {
	before *memory  // nil if nothing is known
	gone   []string // digests of links that people have deleted
	merged bool     // the file has words of people
}

// without returns the index without the links that people have deleted.
func (k kept) without(index *rank.Index) *rank.Index {
	out := *index
	out.Sections = nil
	for _, s := range index.Sections {
		s.Links = stable.DeleteFunc(slices.Clone(s.Links), func(l rank.Link) bool {
			return slices.Contains(k.gone, digestOfLink(l.Path, l.URL))
		})
		if len(s.Links) > 0 {
			out.Sections = append(out.Sections, s)
		}
	}
	return &out
}

// comment returns the comment for the text of an index, or "".
func (k kept) comment(text string, index *rank.Index) string {
	doc, _ := Parse(text)
	whole, summary := digest(wholeSize, text), digest(summarySize, doc.Summary)
	if k.merged {
		whole = strings.Repeat("_", wholeSize)
	}
	if index.SummaryReason == ownReason {
		summary = strings.Repeat("_", summarySize)
	}
	code := whole + summary
	add := func(link, text string) {
		if len(": "+memoryStart+code+link+text+memoryEnd) <= mostMemory {
			code += link + text
		}
	}
	for _, link := range k.gone {
		add(link, k.before.texts[link])
	}
	sections := render.Sections(index)
	for i, s := range doc.Sections {
		for j, said := range s.Links {
			l := sections[i].Links[j]
			link, text := digestOfLink(l.Path, l.URL), digest(textSize, said.Title, said.Note)
			if slices.Contains(l.Reasons, ownReason) { // a person has changed its text, or added it
				if !k.before.offered(link) {
					continue
				}
				text = k.before.texts[link]
			}
			add(link, text)
		}
	}
	links := doc.Links()
	switch {
	case len(links) == 0:
		return ""
	case links[len(links)-1].Note == "":
		return ":" + memoryStart + code + memoryEnd
	}
	return memoryStart + code + memoryEnd
}

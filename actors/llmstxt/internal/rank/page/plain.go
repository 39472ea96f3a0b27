package page

import (
	"cmp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

// readPlain reads reStructuredText, AsciiDoc, Org, Textile and plain text. The title is the first line if it is
// underlined or marked. Prose is any paragraph of words that is not below a heading such as "Installation".
func readPlain(p, text string) Page {
	out := Page{Path: p}
	aside := false
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if strings.Contains(text, "image:") {
		text = adocImage.ReplaceAllString(text, "")
	}
	for block := range strings.SplitSeq(text, "\n\n") {
		lines := plainLines(block)
		if title, n := plainTitle(lines); n > 0 {
			aside = out.Title != "" && asides.In(strings.ToLower(title))
			if out.Title == "" && !out.hasParagraph {
				out.Title = title
			} else {
				out.below(title)
			}
			lines = lines[n:]
		}
		if text := plainProse(lines); !aside && text != "" {
			out.take(text)
		}
		if holdsCode(block) {
			out.code()
		}
	}
	return out
}

// holdsCode recognizes the code blocks of reStructuredText, AsciiDoc and Org.
func holdsCode(block string) bool {
	return !strings.Contains(block, ".. image::") && prose.ContainsAny(block+"\n", "::\n", ".. code", ".. sourcecode",
		"\n----", "#+begin_src", "#+BEGIN_SRC", ".. literalinclude")
}

// plainLines returns the lines of a block without settings, labels and comments.
func plainLines(block string) []string {
	return slices.DeleteFunc(strings.Split(strings.Trim(block, "\n"), "\n"), func(line string) bool {
		return prose.StartsWithAny(line, ".. _", "//", "#+") && !plainHeading.MatchString(line) || setting.MatchString(line)
	})
}

// setting matches ":toc: left", but not a role like ":ref:`x`"; an anchor: "[[id]]", "[#id]"; or a condition.
var setting = lazyregexp.New("^:[^: `][^:`]*:( |$)|^\\[[\\[#].*\\]$|^(?:ifn?def|ifeval|endif|include)::")

// plainHeading matches a heading with a mark, in AsciiDoc, Textile or Org.
var plainHeading = lazyregexp.New(`^(?:={1,3}|\*{1,2}|h[12]\.|(?i:#\+title:)) +(.+)`)

// plainTitle returns the heading with which a block begins, and how many lines it takes: 0 if there is none.
func plainTitle(lines []string) (title string, used int) {
	if len(lines) == 0 {
		return "", 0
	}
	first := lines[0]
	// A bullet looks like a heading of Org; headings stand alone.
	if marked := plainHeading.FindStringSubmatch(first); marked != nil && (first[0] != '*' || len(lines) == 1) {
		return plainInline(marked[1]), 1
	}
	switch {
	case len(lines) > 2 && isRule(first) && isRule(lines[2]):
		return rstInline(lines[1]), 3
	case len(lines) > 1 && isRule(lines[1]) && !isRule(first) && first[0] != '[':
		return rstInline(first), 2
	}
	return "", 0
}

func isRule(line string) bool {
	line = strings.TrimSpace(line)
	return len(line) >= 3 && strings.IndexByte("=-~^*#+\"'`", line[0]) >= 0 && strings.Trim(line, line[:1]) == ""
}

// plainProse returns the text of a block, unless it is indented, a directive, a list, a heading or a table.
func plainProse(lines []string) string {
	if len(lines) == 0 || lines[0] == "" || len(lines) > 1 && isRule(lines[1]) {
		return ""
	}
	if first := lines[0]; strings.ContainsRune(" \t-+|=[#0123456789", rune(first[0])) || setting.MatchString(first) ||
		prose.StartsWithAny(first, "..", "* ") {
		return ""
	}
	return withoutLeadIn(rstInline(strings.Join(lines, " ")))
}

// withoutLeadIn removes a last sentence that ends with a colon, because what it introduces is left out.
func withoutLeadIn(s string) string {
	if !strings.HasSuffix(s, ":") {
		return s
	}
	last := 0
	for next := 0; next < len(s); next += prose.SentenceEnd(s[next:]) {
		last = next
	}
	return cmp.Or(strings.TrimSpace(s[:last]), s)
}

// rstText matches text in back quotes, with the role before it and the target in it; starred matches *emphasised words*.
var (
	rstText = lazyregexp.New("(?::[\\w:+-]+:)?`[~!]* *([^`<]*?) *(?:<[^`]*)?`_*")
	starred = lazyregexp.New(`(^|[ ("'])\*([^* \t](?:[^*]*[^* \t])?)\*`)
	// adocImage is image:badge.svg["Build status", link="https://ci.example"].
	adocImage = lazyregexp.New(`\bimage::?[^\s\[\]]+\[[^\]\n]*\]`)
	// adocLink is link:https://a.example[text], {home}/page.html[text], or xref:other-page.adoc[].
	adocLink = lazyregexp.New(`(?:\b(?:link:|xref:|https?://)|\{[\w-]+\})(?:[^\s\[\]]*/)?([^\s\[\]/]*?)(?:\.adoc|#[^\s\[\]]*)*\[([^\]]*)\]`)
)

// rstInline keeps only the text of roles, references and substitutions.
func rstInline(s string) string {
	s = strings.NewReplacer("``", "\x00", ":rfc:`", "RFC `", ":pep:`", "PEP `").Replace(s)
	if strings.Contains(s, "[") {
		s = adocLink.ReplaceAllStringFunc(s, func(link string) string {
			m := adocLink.FindStringSubmatch(link)
			return cmp.Or(strings.TrimSuffix(m[2], "^"), m[1]) // "^" asks for a new window
		})
	}
	s = rstText.ReplaceAllString(s, "$1")
	s = strings.NewReplacer("_ ", " ", "_.", ".", "_,", ",", "_)", ")", "**", "").Replace(s)
	return prose.Tidy(strings.ReplaceAll(starred.ReplaceAllString(s, "$1$2"), "\x00", "`"))
}

package prose

import (
	"regexp"
	"strings"
)

// marks of documentation tools around words, with what a reader sees of them.
var marks = strings.NewReplacer("<code>", "`", "</code>", "`", "<tt>", "`", "</tt>", "`", "<p>", " ", "</p>", " ",
	"<p/>", " ", "<br>", " ", "<br/>", " ", "<br />", " ", "<em>", "", "</em>", "", "<b>", "", "</b>", "", "<i>", "",
	"</i>", "", "<strong>", "", "</strong>", "", "&lt;", "<", "&gt;", ">", "&quot;", "\"", "&nbsp;", " ")

// Clean leaves the words of a sentence that has the marks of documentation tools: "[Grids](@id grids)" of Julia,
// "<code>x</code>" of Java, "[Grids][frob.grids]" of Python.
func Clean(s string) string {
	if strings.Contains(s, "](@") {
		s = juliaLink.ReplaceAllString(s, "$1")
	}
	if strings.Contains(s, "][") {
		s = reference.ReplaceAllString(s, "$1$2")
	}
	if strings.ContainsAny(s, "<&") {
		s = Tidy(marks.Replace(s))
	}
	return s
}

var juliaLink = regexp.MustCompile(`\[([^\[]*?)\]\(@[^)]*\)`)

// reference is a link to what another page or the code has under a name, not a value that an index follows.
var reference = regexp.MustCompile(`(^|[^\w\])])\[([^\[\]]+)\]\[[^\[\]]*\]`)

// numbered is "2#", of a list that a tool numbers.
var numbered = regexp.MustCompile(`(?:^|\s)\d+#(?:$|\s)`)

// isResidue tells what is left of marks and of code, and warnings without what they are about.
func isResidue(s string) bool {
	low := strings.ToLower(s)
	if phrases["residue has"].In(low) || phrases["residue begins with"].Start(low) ||
		strings.Contains(s, "#") && numbered.MatchString(s) {
		return true
	}
	return phrases["code begins with"].Start(s) && ContainsAny(s, "{", "=", "(", ";")
}

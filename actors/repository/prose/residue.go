package prose

import "strings"

// marks of documentation tools around words, with what a reader sees of them.
var marks = strings.NewReplacer("<code>", "`", "</code>", "`", "<tt>", "`", "</tt>", "`", "<p>", " ", "</p>", " ",
	"<p/>", " ", "<br>", " ", "<br/>", " ", "<br />", " ", "<em>", "", "</em>", "", "<b>", "", "</b>", "", "<i>", "",
	"</i>", "", "<strong>", "", "</strong>", "", "&lt;", "<", "&gt;", ">", "&quot;", "\"", "&nbsp;", " ")

// Clean leaves the words of a sentence that has the marks of documentation tools: "[Grids](@id grids)" of Julia,
// "<code>x</code>" of Java.
func Clean(s string) string {
	for {
		middle := strings.Index(s, "](@")
		if middle < 0 {
			break
		}
		open, end := strings.LastIndexByte(s[:middle], '['), strings.IndexByte(s[middle:], ')')
		if open < 0 || end < 0 {
			break
		}
		s = s[:open] + s[open+1:middle] + s[middle+end+1:]
	}
	if strings.ContainsAny(s, "<&") {
		s = Tidy(marks.Replace(s))
	}
	return s
}

// isResidue tells what is left of marks and of code, and warnings without what they are about.
func isResidue(s string) bool {
	low := strings.ToLower(s)
	if phrases["residue has"].In(low) || phrases["residue begins with"].Start(low) {
		return true
	}
	for word := range strings.FieldsSeq(s) {
		if number, ok := strings.CutSuffix(word, "#"); ok && number != "" && strings.Trim(number, "0123456789") == "" {
			return true // "2#", of a list that a tool numbers
		}
	}
	return phrases["code begins with"].Start(s) && ContainsAny(s, "{", "=", "(", ";")
}

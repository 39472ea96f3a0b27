package rank

import (
	"path"
	"strings"
	"unicode"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// features are what the lines of a document show without a parser for its format: enough to tell what sort of a page
// it is.
type features struct {
	title           string   // the first heading
	headings        []string // plain, as written; of all levels, the title among them
	first           string   // the first line of prose
	lines           int
	fenced          int // lines of code
	fences          int
	steps           int // items of numbered lists, headings "Step 2"
	options         int // table rows and items about a flag, a key or a variable
	declared        int // reStructuredText directives that describe a name
	directives      int
	proseLines      int
	targets         []string // local paths that it links to
	naturalLanguage naturalLanguage
}

func featuresOf(p, text string) features {
	r := featureReader{adoc: isAdoc(p), org: path.Ext(p) == ".org"}
	if markdown, ok := asMarkdown(p, text); ok {
		text = markdown
	}
	front, body := frontMatter(text)
	lines := strings.Split(body, "\n")
	for i, line := range lines {
		next := ""
		if i+1 < len(lines) {
			next = lines[i+1]
		}
		r.line(line, next)
	}
	r.f.lines = len(lines)
	if t := front["title"]; t != "" {
		r.f.headings = append([]string{t}, r.f.headings...)
	}
	if len(r.f.headings) > 0 {
		r.f.title = r.f.headings[0]
	}
	r.f.targets = append(localTargets(body), tocTargets(lines)...)
	r.f.naturalLanguage = r.counts.naturalLanguage()
	return r.f
}

type featureReader struct {
	f         features
	fence     string
	adoc, org bool
	ofOptions bool // the table that is read
	counts    languageCounts
}

func (r *featureReader) line(line, next string) {
	t := strings.TrimSpace(line)
	if r.inFence(t) {
		return
	}
	switch {
	case t == "" || isRule(t):
	case r.heading(t, next):
	case strings.HasPrefix(t, ".. "):
		r.directive(t)
	case line[0] == ' ' || line[0] == '\t':
		r.item(t)
	case strings.IndexByte("-*+|<!:>[", t[0]) >= 0 || isNumbered(t):
		if t[0] == '|' && strings.HasPrefix(strings.TrimLeft(next, " |:"), "--") {
			r.ofOptions = tellsOptions(strings.ToLower(t))
		}
		r.item(t)
	default:
		r.f.proseLines++
		r.counts.count(t)
		if r.f.first == "" && prose.Is(t) {
			r.f.first = t
		}
	}
}

func (r *featureReader) inFence(t string) bool {
	mark := ""
	switch {
	case strings.HasPrefix(t, "```"), strings.HasPrefix(t, "~~~"):
		mark = t[:3]
	case r.adoc && strings.HasPrefix(t, "----"):
		mark = "----"
	case r.org && (strings.HasPrefix(strings.ToLower(t), "#+begin_src") || strings.HasPrefix(strings.ToLower(t),
		"#+end_src")):
		mark = "#+"
	}
	switch {
	case r.fence == "" && mark != "":
		r.fence = mark
		r.f.fences++
		return true
	case r.fence != "" && mark == r.fence:
		r.fence = ""
		return true
	case r.fence != "":
		r.f.fenced++
		return true
	}
	return false
}

func (r *featureReader) heading(t, next string) bool {
	text := ""
	switch {
	case strings.HasPrefix(t, "#") && !r.org:
		text = strings.TrimSpace(strings.Trim(t, "#"))
		if text == "" || !strings.HasPrefix(strings.TrimLeft(t, "#"), " ") {
			return false
		}
	case r.adoc && strings.HasPrefix(t, "="), r.org && strings.HasPrefix(t, "*"):
		text = strings.TrimSpace(strings.TrimLeft(t, "=*"))
	case isRule(next) && len(strings.TrimSpace(next))+3 >= len(t) && next != "" && next[0] != ' ' && t[0] != '|' &&
		t[0] != '+':
		text = t
	default:
		return false
	}
	if len(r.f.headings) < 80 && text != "" {
		text = plainInline(text)
		r.f.headings = append(r.f.headings, text)
		r.counts.count(text)
		if low := strings.ToLower(text); strings.HasPrefix(low, "step ") || isNumbered(low) {
			r.f.steps++
		}
	}
	return true
}

func (r *featureReader) directive(t string) {
	r.f.directives++
	name, _, _ := strings.Cut(strings.TrimPrefix(t, ".. "), "::")
	name = name[strings.LastIndexByte(name, ':')+1:]
	switch name {
	case "function", "method", "class", "type", "macro", "member", "data", "attribute", "doxygenfunction",
		"doxygenclass", "exception", "struct", "enum", "enumerator", "cmacro", "staticmethod":
		r.f.declared++
	case "code-block", "code", "sourcecode", "literalinclude":
		r.f.fences++
	}
}

// item also counts what configures: "--flag", `KEY`, | `option` |.
func (r *featureReader) item(t string) {
	if isNumbered(t) {
		r.f.steps++
	}
	body := t
	for _, bullet := range []string{"- ", "* ", "+ "} {
		body = strings.TrimPrefix(body, bullet)
	}
	body = strings.TrimLeft(body, "*| `")
	word, _, _ := strings.Cut(body, " ")
	word = strings.Trim(word, "`|:=,*")
	if strings.HasPrefix(body, "--") || len(word) > 3 && strings.Contains(word, "_") && word == strings.ToUpper(word) ||
		t[0] == '|' && r.ofOptions && strings.Contains(t, "`") {
		r.f.options++
	}
	if strings.IndexByte("-*+>", t[0]) >= 0 || isNumbered(t) {
		r.counts.count(t)
	}
}

// tellsOptions looks at the head of a table.
func tellsOptions(head string) bool {
	return prose.ContainsAny(head, "option", "flag", "default", "variable", "setting", "parameter", "property",
		"config", "argument")
}

func isNumbered(t string) bool {
	digits := len(t) - len(strings.TrimLeft(t, "0123456789"))
	return digits > 0 && digits < 3 && len(t) > digits+1 && (t[digits] == '.' || t[digits] == ')') && t[digits+1] == ' '
}

func isAdoc(p string) bool {
	ext := strings.ToLower(path.Ext(p))
	return ext == ".adoc" || ext == ".asciidoc"
}

// plainInline drops the marks of emphasis, code, links and headings.
func plainInline(s string) string {
	if i := strings.LastIndex(s, " {#"); i > 0 && strings.HasSuffix(s, "}") {
		s = s[:i]
	}
	for {
		open := strings.IndexByte(s, '[')
		if open < 0 {
			break
		}
		middle := strings.Index(s[open:], "](")
		if middle < 0 {
			break
		}
		end := strings.IndexByte(s[open+middle:], ')')
		if end < 0 {
			break
		}
		s = s[:open] + s[open+1:open+middle] + s[open+middle+end+1:]
	}
	return prose.Tidy(strings.NewReplacer("**", "", "`", "", "__", "").Replace(s))
}

// tocTargets lists the pages of a Sphinx table of contents.
func tocTargets(lines []string) []string {
	var list []string
	inside := false
	for _, line := range lines {
		t := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(t, ".. toctree::"), strings.HasPrefix(t, "```{toctree}"):
			inside = true
		case t == "" || strings.HasPrefix(t, ":"):
		case inside && line[0] != ' ' && line[0] != '\t':
			inside = false
		case inside:
			if i := strings.IndexByte(t, '<'); i >= 0 {
				t = strings.Trim(t[i:], "<>")
			}
			list = append(list, t)
		}
	}
	return list
}

// naturalLanguage is the language that prose is written in: "en", a script's name, "".
type naturalLanguage string

type languageCounts struct {
	words  map[naturalLanguage]int
	script map[naturalLanguage]int
	letter int
}

// count looks at the small words, which no text avoids, and at the scripts.
func (c *languageCounts) count(line string) {
	if c.letter > 4000 {
		return
	}
	if c.words == nil {
		c.words, c.script = make(map[naturalLanguage]int), make(map[naturalLanguage]int)
	}
	for w := range strings.FieldsSeq(line) {
		c.words[smallWord(strings.ToLower(strings.Trim(w, ".,:;!?()\"")))]++
	}
	for _, r := range line {
		if r < 0x80 {
			if r >= 'a' && r <= 'z' {
				c.letter++
			}
			continue
		}
		if s := scriptOf(r); s != "" {
			c.letter++
			c.script[s]++
		}
	}
}

// alphabets are the languages that are told by their letters; the first that has a letter counts.
var alphabets = []struct {
	language naturalLanguage
	table    *unicode.RangeTable
}{
	{"ja", unicode.Hiragana}, {"ja", unicode.Katakana}, {"zh", unicode.Han}, {"ko", unicode.Hangul},
	{"cyrillic", unicode.Cyrillic}, {"ar", unicode.Arabic}, {"hi", unicode.Devanagari}, {"el", unicode.Greek},
	{"he", unicode.Hebrew}, {"th", unicode.Thai},
}

func scriptOf(r rune) naturalLanguage {
	for _, s := range alphabets {
		if unicode.Is(s.table, r) {
			return s.language
		}
	}
	return ""
}

func smallWord(w string) naturalLanguage {
	switch w {
	case "the", "and", "of", "is", "with", "you", "for", "this", "that", "are":
		return "en"
	case "der", "und", "ist", "nicht", "ein", "eine", "mit", "auf", "sie", "werden":
		return "de"
	case "le", "les", "est", "une", "dans", "pour", "vous", "des", "avec", "et":
		return "fr"
	case "el", "los", "las", "una", "con", "por", "como", "es", "y", "del":
		return "es"
	case "os", "uma", "não", "você", "com", "são", "ao", "dos", "ou", "é":
		return "pt"
	case "il", "gli", "che", "di", "della", "sono", "per", "questo", "nel", "è":
		return "it"
	case "het", "een", "niet", "voor", "van", "zijn", "je", "wordt", "aan", "ook":
		return "nl"
	case "jest", "nie", "się", "aby", "dla", "przez", "lub", "które", "oraz", "można":
		return "pl"
	case "ve", "bir", "için", "ile", "bu", "olarak", "veya", "olan", "gibi", "daha":
		return "tr"
	case "och", "är", "att", "det", "som", "för", "inte", "på", "av", "kan":
		return "sv"
	case "yang", "dan", "untuk", "dengan", "ini", "dari", "anda", "pada", "atau", "dalam":
		return "id"
	case "và", "của", "các", "được", "cho", "không", "một", "là", "với", "những":
		return "vi"
	}
	return ""
}

// naturalLanguage is "" where too little speaks for any.
func (c *languageCounts) naturalLanguage() naturalLanguage {
	scripts := 0
	best, most := naturalLanguage(""), 0
	for s, n := range c.script {
		scripts += n
		if n > most || n == most && s < best {
			best, most = s, n
		}
	}
	if 5*scripts > c.letter && scripts > 20 {
		if 20*c.script["ja"] > scripts {
			return "ja"
		}
		return best
	}
	best, most = "", 0
	for t, n := range c.words {
		if t != "" && (n > most || n == most && t < best) {
			best, most = t, n
		}
	}
	if most < 6 {
		return ""
	}
	return best
}

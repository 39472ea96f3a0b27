package manifest

import (
	"cmp"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// field is one "Key: value" of a file of such lines, indented ones joined to it.
type field struct {
	section string // of an INI file; of Cabal the line that the field is indented below
	key     string // lower case
	value   string
}

// parseFields reads Debian-style fields; with sections, indentation below a line without a colon makes fields of a
// section.
func parseFields(text string, sections bool) []field {
	var list []field
	section, deep := "", 0
	for l := range strings.Lines(text) {
		t := strings.TrimSpace(l)
		indent := len(l) - len(strings.TrimLeft(l, " \t"))
		if t == "" || strings.HasPrefix(t, "--") && sections {
			continue
		}
		key, value, ok := strings.Cut(t, ":")
		isKey := ok && isFieldName(key)
		switch {
		case indent > deep && len(list) > 0 && (!isKey || !sections || indent > deep+1 && section == ""):
			if last := &list[len(list)-1]; len(last.value) < textBytes/128 {
				last.value = strings.TrimSpace(last.value + "\n" + t)
			}
		case isKey:
			if indent == 0 {
				section = ""
			}
			deep = indent
			list = append(list, field{section, strings.ToLower(key), strings.TrimSpace(value)})
		case sections && indent == 0:
			section, deep = t, 0
		}
	}
	return list
}

func isFieldName(s string) bool {
	isOther := func(r rune) bool { return !isWordRune(r) && !strings.ContainsRune("-@/", r) }
	return s != "" && strings.IndexFunc(s, isOther) < 0
}

// isListGap separates the items of a list on one or many lines.
func isListGap(r rune) bool { return strings.ContainsRune(", \t\n", r) }

func fieldOf(list []field, section, key string) string {
	for _, f := range list {
		if f.section == section && f.key == key {
			return f.value
		}
	}
	return ""
}

func readDescription(m *Manifest, text string) error {
	list := parseFields(text, false)
	value := func(key string) string { return fieldOf(list, "", key) }
	m.Name, m.Version, m.License = value("package"), value("version"), value("license")
	m.Description = cmp.Or(value("title"), value("description"))
	for url := range strings.FieldsFuncSeq(value("url"), isListGap) {
		if prose.ContainsAny(url, "github.com/", "gitlab.com/", "codeberg.org/") {
			m.Repository = cmp.Or(m.Repository, url)
		} else {
			m.Homepage = cmp.Or(m.Homepage, url)
		}
	}
	for d := range strings.SplitSeq(value("imports")+","+value("depends"), ",") {
		switch name := firstWord(d); {
		case name == "R":
			m.Requires = "R " + strings.Trim(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(d), "R")), "()")
		default:
			m.Dependencies = append(m.Dependencies, name)
		}
	}
	return nil
}

func readCabal(m *Manifest, text string) error {
	list := parseFields(text, true)
	value := func(key string) string { return fieldOf(list, "", key) }
	m.Name, m.Version, m.License = value("name"), value("version"), value("license")
	m.Description = cmp.Or(value("synopsis"), value("description"))
	m.Homepage = value("homepage")
	for _, f := range list {
		kind, name, _ := strings.Cut(f.section, " ")
		kind = strings.ToLower(kind)
		switch {
		case kind == "source-repository" && f.key == "location":
			m.Repository = cmp.Or(m.Repository, f.value)
		case kind == "executable" && f.key == "main-is":
			m.command(strings.TrimSpace(name))
			m.entry(firstLine(fieldOf(list, f.section, "hs-source-dirs")) + "/" + f.value)
		case (kind == "library" || kind == "executable") && f.key == "build-depends":
			for d := range strings.SplitSeq(f.value, ",") {
				m.Dependencies = append(m.Dependencies, firstWord(d))
			}
		case kind == "library" && f.key == "exposed-modules":
			m.cabalModules(cmp.Or(firstLine(fieldOf(list, f.section, "hs-source-dirs")), "."), f.value)
		}
	}
	return nil
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	s, _, _ = strings.Cut(s, ",")
	return strings.TrimSpace(s)
}

func (m *Manifest) cabalModules(dir, names string) {
	for name := range strings.FieldsFuncSeq(names, isListGap) {
		m.entry(dir + "/" + strings.ReplaceAll(name, ".", "/") + ".hs")
	}
}

package manifest

import (
	"cmp"
	"slices"
	"strings"
)

func readPyproject(m *Manifest, text string) error {
	t, err := parseTOML(text)
	p, poetry := t.table("project"), t.table("tool", "poetry")
	field := func(key string) string { return cmp.Or(p.text(key), poetry.text(key)) }
	m.Name, m.Version, m.Description = field("name"), field("version"), field("description")
	m.License = cmp.Or(field("license"), p.table("license").text("text"))
	if len(m.License) > 60 {
		m.License = "" // the text of the licence rather than its name
	}
	m.requires("Python", cmp.Or(p.text("requires-python"), poetry.table("dependencies").text("python")))
	m.Homepage, m.Repository = poetry.text("homepage"), poetry.text("repository")
	m.pythonURLs(p.table("urls"), text)
	for _, d := range p.texts("dependencies") {
		m.Dependencies = append(m.Dependencies, firstWord(d))
	}
	for name := range poetry.table("dependencies") {
		if name != "python" {
			m.Dependencies = append(m.Dependencies, name)
		}
	}
	m.Members = t.table("tool", "uv", "workspace").texts("members")
	for _, scripts := range []table{p.table("scripts"), p.table("gui-scripts"), poetry.table("scripts")} {
		for _, name := range scripts.keys(text) {
			m.pythonCommand(name, scripts.text(name))
		}
	}
	m.pythonPackage()
	m.pythonTasks(t, text)
	return err
}

// pythonTasks reads the tables of the task runners in use.
func (m *Manifest) pythonTasks(t table, text string) {
	for _, keys := range [][]string{{"tool", "poe", "tasks"}, {"tool", "pdm", "scripts"}, {"tool", "taskipy", "tasks"},
		{"tool", "hatch", "envs", "default", "scripts"}} {
		tasks := t.table(keys...)
		for _, name := range tasks.keys(text) {
			sub := tasks.table(name)
			m.script(name, cmp.Or(tasks.text(name), sub.text("cmd"), sub.text("shell")))
		}
	}
}

func (m *Manifest) pythonURLs(urls table, text string) {
	for _, key := range urls.keys(text) {
		switch label := strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(key)); label {
		case "homepage":
			m.Homepage = urls.text(key)
		case "repository", "source", "sourcecode", "github", "gitlab", "code":
			m.Repository = cmp.Or(m.Repository, urls.text(key))
		}
	}
}

// pythonCommand takes "package.module:function".
func (m *Manifest) pythonCommand(name, target string) {
	m.command(name)
	module, _, _ := strings.Cut(target, ":")
	module = strings.TrimSpace(module)
	if module != "" && strings.IndexFunc(module, func(r rune) bool { return !isWordRune(r) && r != '.' }) < 0 {
		m.entry(strings.ReplaceAll(module, ".", "/") + ".py")
	}
}

func isWordRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
}

// pythonPackage is the package of the distribution's own name.
func (m *Manifest) pythonPackage() {
	if m.Name != "" {
		m.entry(strings.NewReplacer("-", "_", ".", "/").Replace(m.Name) + "/__init__.py")
	}
}

func readSetupCfg(m *Manifest, text string) error {
	sections := parseINI(text)
	meta, options := sections["metadata"], sections["options"]
	m.Name, m.Version, m.Description = meta["name"], literalOnly(meta["version"]), meta["description"]
	m.License, m.Homepage = meta["license"], cmp.Or(meta["url"], meta["home_page"], meta["home-page"])
	m.requires("Python", options["python_requires"])
	for l := range strings.Lines(meta["project_urls"]) {
		key, url, _ := strings.Cut(l, "=")
		if strings.Contains(strings.ToLower(key), "source") || strings.Contains(strings.ToLower(key), "repository") {
			m.Repository = strings.TrimSpace(url)
		}
	}
	for l := range strings.Lines(options["install_requires"]) {
		m.Dependencies = append(m.Dependencies, firstWord(l))
	}
	for l := range strings.Lines(sections["options.entry_points"]["console_scripts"]) {
		if name, target, ok := strings.Cut(l, "="); ok {
			m.pythonCommand(strings.TrimSpace(name), strings.TrimSpace(target))
		}
	}
	m.pythonPackage()
	return nil
}

// literalOnly drops "attr: package.version" and "file: VERSION".
func literalOnly(s string) string {
	if strings.Contains(s, ":") {
		return ""
	}
	return s
}

// parseINI joins indented lines to the value before them.
func parseINI(text string) map[string]map[string]string {
	sections := make(map[string]map[string]string)
	section, key := "", ""
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, "\n")
		t := strings.TrimSpace(l)
		switch {
		case t == "" || t[0] == '#' || t[0] == ';':
		case l[0] == '[':
			section, key = strings.Trim(t, "[]"), ""
		case l[0] == ' ' || l[0] == '\t':
			if key != "" && len(sections[section][key]) < textBytes/128 {
				sections[section][key] = strings.TrimPrefix(sections[section][key]+"\n"+t, "\n")
			}
		default:
			key = setINI(sections, section, t)
		}
	}
	return sections
}

func setINI(sections map[string]map[string]string, section, l string) string {
	i := strings.IndexAny(l, "=:")
	if i < 0 {
		return ""
	}
	if sections[section] == nil {
		sections[section] = make(map[string]string)
	}
	key := strings.ToLower(strings.TrimSpace(l[:i]))
	sections[section][key] = strings.TrimSpace(l[i+1:])
	return key
}

// readSetupPy reads the keyword arguments of the setup call that are literals, or names that the file sets to a
// literal.
func readSetupPy(m *Manifest, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, triple: true, quotes: `"'`})
	args := setupCall(toks)
	value := func(key string) string {
		list := args[key]
		if len(list) == 1 && list[0].kind == word {
			return assigned(toks, list[0].text)
		}
		return joinTexts(list)
	}
	m.Name, m.Version, m.Description = value("name"), value("version"), value("description")
	m.License, m.Homepage = value("license"), value("url")
	m.requires("Python", value("python_requires"))
	for _, t := range args["install_requires"] {
		if t.kind == str {
			m.Dependencies = append(m.Dependencies, firstWord(t.text))
		}
	}
	for _, t := range args["entry_points"] {
		if name, target, ok := strings.Cut(t.text, "="); ok && t.kind == str && !strings.Contains(t.text, "\n") {
			m.pythonCommand(strings.TrimSpace(name), strings.TrimSpace(target))
		}
	}
	for _, t := range args["py_modules"] {
		if t.kind == str {
			m.entry(t.text + ".py")
		}
	}
	m.pythonPackage()
	return nil
}

// setupCall gives the tokens of each keyword argument of the last setup(...).
func setupCall(toks []token) map[string][]token {
	start := -1
	for i, t := range toks {
		if t.is(word, "setup") && i+1 < len(toks) && toks[i+1].is(mark, "(") {
			start = i + 2
		}
	}
	if start < 0 {
		return nil
	}
	return arguments(toks[start:], "=")
}

// assigned is the literal in NAME = "literal", where that stands once.
func assigned(toks []token, name string) string {
	found := ""
	for i := range toks {
		if toks[i].is(word, name) && i+2 < len(toks) && toks[i+1].is(mark, "=") && toks[i+2].kind == str {
			if found != "" {
				return ""
			}
			found = toks[i+2].text
		}
	}
	return found
}

// joinTexts is the text of adjacent literals, "" if anything else is among them.
func joinTexts(list []token) string {
	if slices.ContainsFunc(list, func(t token) bool { return t.kind != str && !t.is(mark, "(") && !t.is(mark, ")") }) {
		return ""
	}
	var b strings.Builder
	for _, t := range list {
		if t.kind == str {
			b.WriteString(t.text)
		}
	}
	return b.String()
}

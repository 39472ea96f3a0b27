package manifest

import (
	"cmp"
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

func readPyproject(m *Manifest, text string) error {
	t, err := parseTOML(text)
	p, poetry := t.object("project"), t.object("tool", "poetry")
	field := func(key string) string { return cmp.Or(p.text(key), poetry.text(key)) }
	m.Name, m.Version, m.Description = field("name"), field("version"), field("description")
	m.License = cmp.Or(field("license"), p.object("license").text("text"))
	if len(m.License) > 60 {
		m.License = "" // the text of the licence rather than its name
	}
	m.requires("Python", cmp.Or(p.text("requires-python"), poetry.object("dependencies").text("python")))
	m.Homepage, m.Repository = poetry.text("homepage"), poetry.text("repository")
	m.pythonURLs(p.object("urls"))
	for _, d := range p.texts("dependencies") {
		m.Dependencies = append(m.Dependencies, firstWord(d))
	}
	for _, name := range poetry.object("dependencies").keys() {
		if name != "python" {
			m.Dependencies = append(m.Dependencies, name)
		}
	}
	m.Members = t.object("tool", "uv", "workspace").texts("members")
	for _, scripts := range []object{p.object("scripts"), p.object("gui-scripts"), poetry.object("scripts")} {
		for _, name := range scripts.keys() {
			m.pythonCommand(name, scripts.text(name))
		}
	}
	m.pythonPackage()
	m.pythonTasks(t)
	return err
}

// pythonTasks reads the tables of the task runners in use.
func (m *Manifest) pythonTasks(t object) {
	for _, keys := range [][]string{{"tool", "poe", "tasks"}, {"tool", "pdm", "scripts"}, {"tool", "taskipy", "tasks"},
		{"tool", "hatch", "envs", "default", "scripts"}} {
		tasks := t.object(keys...)
		for _, name := range tasks.keys() {
			sub := tasks.object(name)
			m.script(name, cmp.Or(tasks.text(name), sub.text("cmd"), sub.text("shell")))
		}
	}
}

func (m *Manifest) pythonURLs(urls object) {
	for _, key := range urls.keys() {
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
	list := parseINI(text)
	meta := func(key string) string { return fieldOf(list, "metadata", key) }
	options := func(key string) string { return fieldOf(list, "options", key) }
	m.Name, m.Version, m.Description = meta("name"), meta("version"), meta("description")
	if strings.Contains(m.Version, ":") {
		m.Version = "" // "attr: package.version" or "file: VERSION"
	}
	m.License, m.Homepage = meta("license"), cmp.Or(meta("url"), meta("home_page"), meta("home-page"))
	m.requires("Python", options("python_requires"))
	for l := range strings.Lines(meta("project_urls")) {
		key, url, _ := strings.Cut(l, "=")
		if prose.ContainsAny(strings.ToLower(key), "source", "repository") {
			m.Repository = strings.TrimSpace(url)
		}
	}
	for l := range strings.Lines(options("install_requires")) {
		m.Dependencies = append(m.Dependencies, firstWord(l))
	}
	for l := range strings.Lines(fieldOf(list, "options.entry_points", "console_scripts")) {
		m.pythonScript(l)
	}
	m.pythonPackage()
	return nil
}

// pythonScript takes "name = package.module:function".
func (m *Manifest) pythonScript(l string) {
	if name, target, ok := strings.Cut(l, "="); ok {
		m.pythonCommand(strings.TrimSpace(name), strings.TrimSpace(target))
	}
}

// parseINI joins indented lines to the value before them.
func parseINI(text string) []field {
	var list []field
	section := ""
	for l := range strings.Lines(text) {
		t := strings.TrimSpace(l)
		sign, last := strings.IndexAny(t, "=:"), len(list)-1
		switch {
		case t == "" || t[0] == '#' || t[0] == ';':
		case l[0] == '[':
			section = strings.Trim(t, "[]")
		case l[0] == ' ' || l[0] == '\t':
			if last >= 0 && list[last].section == section && len(list[last].value) < textBytes/128 {
				list[last].value = strings.TrimPrefix(list[last].value+"\n"+t, "\n")
			}
		case sign >= 0:
			list = append(list, field{section, strings.ToLower(strings.TrimSpace(t[:sign])), strings.TrimSpace(t[sign+1:])})
		}
	}
	return list
}

// readSetupPy reads the keyword arguments of the last setup call that are literals, or names that the file sets to a
// literal.
func readSetupPy(m *Manifest, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, triple: true, quotes: `"'`})
	var call tokens
	for i := range toks {
		if toks.has(i, "setup", "(") {
			call = toks[i:]
		}
	}
	args := call.group(1).arguments("=")
	value := func(key string) string {
		if list := args[key]; len(list) == 1 && list[0].kind == word {
			return assigned(toks, list[0].text)
		}
		return args[key].joined()
	}
	m.Name, m.Version, m.Description = value("name"), value("version"), value("description")
	m.License, m.Homepage = value("license"), value("url")
	m.requires("Python", value("python_requires"))
	for _, d := range args["install_requires"].strs() {
		m.Dependencies = append(m.Dependencies, firstWord(d))
	}
	for _, point := range args["entry_points"].strs() {
		if !strings.Contains(point, "\n") {
			m.pythonScript(point)
		}
	}
	for _, module := range args["py_modules"].strs() {
		m.entry(module + ".py")
	}
	m.pythonPackage()
	return nil
}

// assigned is the literal in NAME = "literal", where that stands once.
func assigned(toks tokens, name string) string {
	found := ""
	for i := range toks {
		if toks.has(i, name, "=") && toks.at(i+2).kind == str {
			if found != "" {
				return ""
			}
			found = toks[i+2].text
		}
	}
	return found
}

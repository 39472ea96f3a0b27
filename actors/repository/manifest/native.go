package manifest

import (
	"cmp"
	"strings"
)

func readCMake(m *Manifest, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, quotes: `"`, words: "./-+:$"})
	for i := range toks {
		if toks[i].kind != word || i+1 >= len(toks) || !toks[i+1].is(mark, "(") {
			continue
		}
		args := group(toks, i+1)
		if len(args) == 0 || strings.Contains(args[0].text, "$") {
			continue
		}
		switch strings.ToLower(toks[i].text) {
		case "project":
			m.cmakeProject(args)
		case "add_executable":
			m.cmakeProgram(args)
		case "add_subdirectory":
			m.Members = append(m.Members, args[0].text)
		case "find_package":
			m.Dependencies = append(m.Dependencies, args[0].text)
		}
	}
	return nil
}

func (m *Manifest) cmakeProject(args []token) {
	if m.Name != "" {
		return
	}
	m.Name = args[0].text
	for i := range len(args) - 1 {
		value := args[i+1].text
		if strings.Contains(value, "$") {
			continue
		}
		switch args[i].text {
		case "VERSION":
			m.Version = value
		case "DESCRIPTION":
			m.Description = value
		case "HOMEPAGE_URL":
			m.Homepage = value
		}
	}
}

func (m *Manifest) cmakeProgram(args []token) {
	m.command(args[0].text)
	for _, a := range args[1:] {
		if strings.Contains(a.text, "main.") && !strings.Contains(a.text, "$") {
			m.entry(a.text)
		}
	}
}

func readMeson(m *Manifest, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, quotes: `'`, triple: true})
	for i := range toks {
		if toks[i].kind != word || i+2 >= len(toks) || !toks[i+1].is(mark, "(") || toks[i+2].kind != str {
			continue
		}
		args := group(toks, i+1)
		switch toks[i].text {
		case "project":
			named := arguments(args, ":")
			m.Name = args[0].text
			m.Version, m.License = joinTexts(named["version"]), cmp.Or(strs(named["license"])...)
		case "executable":
			m.command(args[0].text)
			for _, s := range strs(args[1:]) {
				if strings.HasPrefix(s, "main.") || strings.Contains(s, "/main.") {
					m.entry(s)
				}
			}
		case "dependency":
			m.Dependencies = append(m.Dependencies, args[0].text)
		case "subdir":
			m.Members = append(m.Members, args[0].text)
		}
	}
	return nil
}

func readSwift(m *Manifest, text string) error {
	toks := lex(text, syntax{line: []string{"//"}, block: true, quotes: `"`, triple: true})
	if first, _, _ := strings.Cut(text, "\n"); strings.Contains(first, "swift-tools-version") {
		m.Requires = "Swift " + strings.TrimSpace(first[strings.LastIndexByte(first, ':')+1:])
	}
	for i := range toks {
		if toks[i].kind != word || i+1 >= len(toks) || !toks[i+1].is(mark, "(") {
			continue
		}
		named := arguments(group(toks, i+1), ":")
		name := joinTexts(named["name"])
		switch toks[i].text {
		case "Package":
			m.Name = cmp.Or(m.Name, name)
		case "executable":
			m.command(name)
		case "executableTarget":
			m.entry(cmp.Or(joinTexts(named["path"]), "Sources/"+name) + "/main.swift")
		case "package":
			if url := joinTexts(named["url"]); url != "" {
				m.Dependencies = append(m.Dependencies, strings.TrimSuffix(url[strings.LastIndexByte(url, '/')+1:],
					".git"))
			}
		}
	}
	return nil
}

// readZon reads the fields of the outermost struct.
func readZon(m *Manifest, text string) error {
	toks := lex(text, syntax{line: []string{"//"}, quotes: `"`})
	level, inDeps := 0, false
	for i := 0; i+3 < len(toks); i++ {
		switch t := toks[i]; {
		case t.is(mark, "{"):
			level++
		case t.is(mark, "}"):
			if level--; level == 1 {
				inDeps = false
			}
		case t.is(mark, ".") && toks[i+1].kind == word && toks[i+2].is(mark, "="):
			switch key, value := toks[i+1].text, toks[i+3]; {
			case level == 2 && inDeps:
				m.Dependencies = append(m.Dependencies, key)
			case level == 1 && key == "dependencies":
				inDeps = true
			case level == 1:
				m.zonField(key, value, toks[min(i+4, len(toks)-1)])
			}
		}
	}
	m.entry("src/root.zig", "src/main.zig")
	return nil
}

func (m *Manifest) zonField(key string, value, next token) {
	text := value.text
	if value.is(mark, ".") {
		text = next.text
	}
	switch key {
	case "name":
		m.Name = text
	case "version":
		m.Version = text
	case "minimum_zig_version":
		m.Requires = "Zig " + text
	}
}

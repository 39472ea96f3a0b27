package manifest

import (
	"cmp"
	"path"
	"strings"
)

// calls visits every name that brackets follow, with the arguments in them. What is nested too deeply is no call.
func (toks tokens) calls(visit func(name string, args tokens)) {
	for i, t := range toks {
		if t.kind == word && t.deep <= depth && toks.has(i+1, "(") {
			visit(t.text, toks.group(i+1))
		}
	}
}

func readCMake(m *Manifest, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, quotes: `"`, words: "./-+:$"})
	toks.calls(func(name string, args tokens) {
		if len(args) == 0 || strings.Contains(args[0].text, "$") {
			return
		}
		switch strings.ToLower(name) {
		case "project":
			m.cmakeProject(args)
		case "add_executable":
			m.program(args)
		case "add_subdirectory":
			m.Members = append(m.Members, args[0].text)
		case "find_package":
			m.Dependencies = append(m.Dependencies, args[0].text)
		}
	})
	return nil
}

func (m *Manifest) cmakeProject(args tokens) {
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

// program takes the name of a program, and the file with its main function.
func (m *Manifest) program(args tokens) {
	m.command(args[0].text)
	for _, a := range args[1:] {
		if strings.HasPrefix(path.Base(a.text), "main.") && !strings.Contains(a.text, "$") {
			m.entry(a.text)
		}
	}
}

func readMeson(m *Manifest, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, quotes: `'`, triple: true})
	toks.calls(func(name string, args tokens) {
		if args.at(0).kind != str {
			return
		}
		switch name {
		case "project":
			named := args.arguments(":")
			m.Name = args[0].text
			m.Version, m.License = named["version"].joined(), cmp.Or(named["license"].strs()...)
		case "executable":
			m.program(args)
		case "dependency":
			m.Dependencies = append(m.Dependencies, args[0].text)
		case "subdir":
			m.Members = append(m.Members, args[0].text)
		}
	})
	return nil
}

func readSwift(m *Manifest, text string) error {
	toks := lex(text, syntax{line: []string{"//"}, block: true, quotes: `"`, triple: true})
	if first, _, _ := strings.Cut(text, "\n"); strings.Contains(first, "swift-tools-version") {
		m.Requires = "Swift " + strings.TrimSpace(first[strings.LastIndexByte(first, ':')+1:])
	}
	toks.calls(func(function string, args tokens) {
		named := args.arguments(":")
		name := named["name"].joined()
		switch function {
		case "Package":
			m.Name = cmp.Or(m.Name, name)
		case "executable":
			m.command(name)
		case "executableTarget":
			m.entry(cmp.Or(named["path"].joined(), "Sources/"+name) + "/main.swift")
		case "package":
			if url := named["url"].joined(); url != "" {
				m.Dependencies = append(m.Dependencies, strings.TrimSuffix(path.Base(url), ".git"))
			}
		}
	})
	return nil
}

// readZon reads the fields of the outermost struct.
func readZon(m *Manifest, text string) error {
	toks := lex(text, syntax{line: []string{"//"}, quotes: `"`})
	inDeps := false
	for i, t := range toks {
		if !t.is(".") || toks.at(i+1).kind != word || !toks.has(i+2, "=") {
			continue
		}
		key, value := toks[i+1].text, toks.at(i+3).text
		if value == "." {
			value = toks.at(i + 4).text
		}
		if t.deep == 2 && inDeps {
			m.Dependencies = append(m.Dependencies, key)
		}
		if t.deep != 1 {
			continue
		}
		inDeps = key == "dependencies"
		switch key {
		case "name":
			m.Name = value
		case "version":
			m.Version = value
		case "minimum_zig_version":
			m.Requires = "Zig " + value
		}
	}
	m.entry("src/root.zig", "src/main.zig")
	return nil
}

package manifest

import (
	"cmp"
	"path"
	"strings"
)

// calls calls visit for every name that brackets follow, with the arguments in them. It ignores what is nested too
// deeply.
func (toks tokens) calls(visit func(name string, args tokens)) {
	for i, t := range toks {
		if t.kind == word && t.deep <= depth && toks.has(i+1, "(") {
			visit(t.text, toks.group(i+1))
		}
	}
}

// readCMake reads the commands of a CMakeLists.txt, unless a variable is their first argument.
func readCMake(f *file, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, quotes: `"`, words: "./-+:$"})
	toks.calls(func(name string, args tokens) {
		if len(args) == 0 || strings.Contains(args[0].text, "$") {
			return
		}
		switch strings.ToLower(name) {
		case "project":
			f.cmakeProject(args)
		case "add_executable":
			f.program(args)
		case "add_subdirectory":
			f.Members = append(f.Members, args[0].text)
		case "find_package":
			f.Dependencies = append(f.Dependencies, args[0].text)
		}
	})
	return nil
}

// cmakeProject reads the first project command. A value with a variable is left out.
func (f *file) cmakeProject(args tokens) {
	if f.Name != "" {
		return
	}
	f.Name = args[0].text
	f.fill(func(key string) string {
		value := args.at(args.find(key) + 1).text
		if args.find(key) < 0 || strings.Contains(value, "$") {
			return ""
		}
		return value
	})
}

// program adds the name of a program, and the file with its main function.
func (f *file) program(args tokens) {
	f.command(args[0].text)
	for _, a := range args[1:] {
		if strings.HasPrefix(path.Base(a.text), "main.") && !strings.Contains(a.text, "$") {
			f.entry(a.text)
		}
	}
}

// readMeson reads the calls in a meson.build that begin with a literal.
func readMeson(f *file, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, quotes: `'`, triple: true})
	toks.calls(func(name string, args tokens) {
		if args.at(0).kind != str {
			return
		}
		switch name {
		case "project":
			named := args.arguments(":")
			f.Name = args[0].text
			f.Version, f.License = named["version"].joined(), cmp.Or(named["license"].strs()...)
		case "executable":
			f.program(args)
		case "dependency":
			f.Dependencies = append(f.Dependencies, args[0].text)
		case "subdir":
			f.Members = append(f.Members, args[0].text)
		}
	})
	return nil
}

// readSwift reads a Package.swift. The comment in its first line has the required version.
func readSwift(f *file, text string) error {
	toks := lex(text, syntax{line: []string{"//"}, block: true, quotes: `"`, triple: true})
	if first, _, _ := strings.Cut(text, "\n"); strings.Contains(first, "swift-tools-version") {
		f.Requires = "Swift " + strings.TrimSpace(first[strings.LastIndexByte(first, ':')+1:])
	}
	toks.calls(func(function string, args tokens) {
		named := args.arguments(":")
		name := named["name"].joined()
		switch function {
		case "Package":
			f.Name = cmp.Or(f.Name, name)
		case "executable":
			f.command(name)
		case "executableTarget":
			f.entry(cmp.Or(named["path"].joined(), "Sources/"+name) + "/main.swift")
		case "package":
			if url := named["url"].joined(); url != "" {
				f.Dependencies = append(f.Dependencies, strings.TrimSuffix(path.Base(url), ".git"))
			}
		}
	})
	return nil
}

// readZon reads the fields of the outermost struct.
func readZon(f *file, text string) error {
	toks := lex(text, syntax{line: []string{"//"}, quotes: `"`})
	f.fill(func(key string) string {
		i := toks.find(".", key, "=")
		if i < 0 {
			return ""
		}
		return toks.past(i+3, ".").text
	})
	if i := toks.find(".", "dependencies", "=", ".", "{"); i >= 0 {
		deps := toks.group(i + 4)
		for k, t := range deps {
			if name := deps.at(k + 1); t.is(".") && t.deep == 2 && name.kind == word {
				f.Dependencies = append(f.Dependencies, name.text)
			}
		}
	}
	return nil
}

// readOpam reads an opam file. Without a field for the name, the package has that of the file.
func readOpam(f *file, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, quotes: `"`, triple: true, words: "-"})
	f.fill(func(key string) string { return literalAfter(toks, key, ":") })
	f.Name = cmp.Or(f.Name, strings.TrimSuffix(path.Base(f.Path), ".opam"))
	start := toks.find("depends", ":", "[")
	if start < 0 {
		return nil
	}
	depends := toks.group(start + 2)
	for i := 0; i < len(depends); i++ {
		if depends[i].is("{") { // a condition
			i += len(depends.group(i))
		} else if depends[i].kind == str {
			f.Dependencies = append(f.Dependencies, depends[i].text)
		}
	}
	return nil
}

// readLeiningen reads the keys and values of defproject.
func readLeiningen(f *file, text string) error {
	toks := lex(text, syntax{line: []string{";"}, quotes: `"`, lines: true, words: ":./*+!?<>=-"})
	start := toks.find("(", "defproject")
	if start < 0 {
		return nil
	}
	project := toks.group(start)
	f.Name, f.Version = project.at(1).text, project.at(2).text
	value := func(key string) tokens {
		for i, t := range project {
			if t.deep == project[0].deep && t.is(":"+key) {
				if next := project.at(i + 1); next.kind == mark {
					return project.group(i + 1)
				}
				return project[i+1 : min(i+2, len(project))]
			}
		}
		return nil
	}
	f.fill(func(key string) string { return value(key).at(0).text })
	license, dependencies := value("license"), value("dependencies")
	if i := license.find(":name"); i >= 0 {
		f.License = license.at(i + 1).text
	}
	f.Members = value("sub").strs()
	for i, t := range dependencies {
		if t.is("[") {
			f.Dependencies = append(f.Dependencies, dependencies.at(i+1).text)
		}
	}
	return nil
}

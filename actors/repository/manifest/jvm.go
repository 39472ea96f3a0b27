package manifest

import (
	"cmp"
	"strings"
)

func readPOM(m *Manifest, text string) error {
	p := pom{fields: make(map[string]string)}
	err := walkXML(text, p.visit)
	field := func(key string) string { return p.resolve(p.fields["project/"+key], 0) }
	group := cmp.Or(field("groupId"), field("parent/groupId"))
	m.Name = field("artifactId")
	if group != "" && m.Name != "" {
		m.Name = group + ":" + m.Name
	}
	m.Version = cmp.Or(field("version"), field("parent/version"))
	m.Description, m.Homepage = field("description"), field("url")
	m.License = field("licenses/license/name")
	m.Repository = cmp.Or(field("scm/url"), field("scm/connection"))
	m.requires("Java", cmp.Or(field("properties/maven.compiler.release"), field("properties/java.version"),
		field("properties/maven.compiler.source")))
	m.Members, m.Dependencies = p.modules, p.dependencies
	m.Private = field("packaging") == "pom" && len(p.modules) > 0
	if main := p.resolve(p.main, 0); main != "" {
		m.entry("src/main/java/" + strings.ReplaceAll(main, ".", "/") + ".java")
	}
	return err
}

type pom struct {
	fields       map[string]string // the first of each path
	modules      []string
	dependencies []string
	main         string
	dependency   [3]string // group, artifact and scope of the one being read
}

func (p *pom) visit(e element) {
	if _, seen := p.fields[e.path]; !seen {
		p.fields[e.path] = e.text
	}
	switch e.path {
	case "project/modules/module":
		p.modules = append(p.modules, e.text)
	case "project/dependencies/dependency/groupId":
		p.dependency[0] = e.text
	case "project/dependencies/dependency/artifactId":
		p.dependency[1] = e.text
	case "project/dependencies/dependency/scope":
		p.dependency[2] = e.text
	case "project/dependencies/dependency":
		if p.dependency[2] != "test" && p.dependency[2] != "provided" && !strings.Contains(p.dependency[0], "$") {
			p.dependencies = append(p.dependencies, p.dependency[0]+":"+p.dependency[1])
		}
		p.dependency = [3]string{}
	}
	if strings.HasSuffix(e.path, "/mainClass") && p.main == "" {
		p.main = e.text
	}
}

// resolve replaces ${name} by a property of the same file; a value with an unknown one is no value.
func (p *pom) resolve(value string, level int) string {
	for level < 8 {
		before, rest, ok := strings.Cut(value, "${")
		if !ok || len(value) > textBytes/64 {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		value = before + cmp.Or(p.fields["project/properties/"+name],
			p.fields["project/"+strings.TrimPrefix(name, "project.")], "$") + after
		level++
	}
	if strings.Contains(value, "$") {
		return ""
	}
	return value
}

func gradleSyntax() syntax {
	return syntax{line: []string{"//"}, block: true, quotes: `"'`, triple: true, words: "."}
}

// readGradle reads assignments at the top level and the dependencies blocks.
func readGradle(m *Manifest, text string) error {
	toks := lex(text, gradleSyntax())
	value := func(key string) string {
		return cmp.Or(gradleValue(toks, key, 0), gradleValue(gradleBlock(toks, "allprojects"), key, 0))
	}
	m.Version, m.Description = value("version"), value("description")
	m.Name = cmp.Or(gradleValue(toks, "archivesBaseName", 3), gradleValue(toks, "rootProject.name", 3))
	if of := value("group"); of != "" {
		m.Name = of + ":" + m.Name
	}
	for _, key := range []string{"mainClass", "mainClassName", "mainClass.set", "application.mainClass"} {
		if main := gradleValue(toks, key, 3); main != "" {
			p := strings.ReplaceAll(strings.TrimSuffix(main, "Kt"), ".", "/")
			m.entry("src/main/java/"+p+".java", "src/main/kotlin/"+p+".kt")
			break
		}
	}
	m.gradleDependencies(toks)
	return nil
}

// gradleBlock is what stands between the braces after the name.
func gradleBlock(toks []token, name string) []token {
	for i := range toks {
		if toks[i].is(word, name) && i+1 < len(toks) && toks[i+1].is(mark, "{") {
			return group(toks, i+1)
		}
	}
	return nil
}

// gradleValue is the literal in key = "…", key("…") or key "…", at most so many braces deep.
func gradleValue(toks []token, key string, deep int) string {
	level := 0
	for i, t := range toks {
		switch {
		case t.is(mark, "{"):
			level++
		case t.is(mark, "}"):
			level--
		case t.is(word, key) && level <= deep:
			for j := i + 1; j < min(i+3, len(toks)); j++ {
				if toks[j].kind == str && !strings.Contains(toks[j].text, "$") {
					return toks[j].text
				}
				if !toks[j].is(mark, "=") && !toks[j].is(mark, "(") {
					break
				}
			}
		}
	}
	return ""
}

func (m *Manifest) gradleDependencies(toks []token) {
	for i, t := range toks {
		if t.kind != word || t.text != "api" && t.text != "implementation" && t.text != "compileOnlyApi" {
			continue
		}
		for j := i + 1; j < min(i+3, len(toks)); j++ {
			if parts := strings.Split(toks[j].text, ":"); toks[j].kind == str && len(parts) >= 2 && parts[0] != "" {
				m.Dependencies = append(m.Dependencies, parts[0]+":"+parts[1])
			}
		}
	}
}

func readGradleSettings(m *Manifest, text string) error {
	toks := lex(text, gradleSyntax())
	m.Name = gradleValue(toks, "rootProject.name", 3)
	for i := range toks {
		if !toks[i].is(word, "include") {
			continue
		}
		for _, t := range toks[i+1:] {
			if t.kind == word || t.kind == mark && !strings.Contains("(,", t.text) {
				break
			}
			if p := strings.Trim(strings.ReplaceAll(t.text, ":", "/"), "/"); t.kind == str && p != "" {
				m.Members = append(m.Members, p)
			}
		}
	}
	return nil
}

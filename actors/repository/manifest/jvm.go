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
	var shared tokens
	if i := toks.find("allprojects", "{"); i >= 0 {
		shared = toks.group(i + 1)
	}
	value := func(key string) string { return cmp.Or(gradleValue(toks, key, 0), gradleValue(shared, key, 0)) }
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

// gradleValue is the literal in key = "…", key("…") or key "…", at most so deep in brackets.
func gradleValue(toks tokens, key string, deep int) string {
	for i, t := range toks {
		if !t.is(key) || t.deep-toks[0].deep > deep {
			continue
		}
		if next := gradleLiteral(toks, i+1); next.kind == str && !strings.Contains(next.text, "$") {
			return next.text
		}
	}
	return ""
}

// gradleLiteral is the token at i, or the one behind a "=" or "(".
func gradleLiteral(toks tokens, i int) token {
	if toks.has(i, "=") || toks.has(i, "(") {
		i++
	}
	return toks.at(i)
}

func (m *Manifest) gradleDependencies(toks tokens) {
	for i, t := range toks {
		if !t.is("api") && !t.is("implementation") && !t.is("compileOnlyApi") {
			continue
		}
		next := gradleLiteral(toks, i+1)
		if parts := strings.Split(next.text, ":"); next.kind == str && len(parts) >= 2 && parts[0] != "" {
			m.Dependencies = append(m.Dependencies, parts[0]+":"+parts[1])
		}
	}
}

func readGradleSettings(m *Manifest, text string) error {
	toks := lex(text, gradleSyntax())
	m.Name = gradleValue(toks, "rootProject.name", 3)
	for i := range toks {
		if !toks.has(i, "include") {
			continue
		}
		for _, t := range toks[i+1:] {
			if t.kind != str && !t.is("(") && !t.is(",") {
				break
			}
			if p := strings.Trim(strings.ReplaceAll(t.text, ":", "/"), "/"); t.kind == str && p != "" {
				m.Members = append(m.Members, p)
			}
		}
	}
	return nil
}

package manifest

import (
	"cmp"
	"path"
	"strings"
)

// readPOM reads a pom.xml. One that only joins modules is private. Dependencies for tests do not count.
func readPOM(f *file, text string) error {
	o, err := parseXML(text)
	value := func(place string) string { return resolved(o, o.text(place)) }
	f.fill(value)
	f.lists(o)
	f.Private = value("project/packaging") == "pom" && len(f.Members) > 0
	for _, d := range o.objects("project/dependencies/dependency") {
		group, scope := d.text("groupId"), d.text("scope")
		if scope != "test" && scope != "provided" && !strings.Contains(group, "$") {
			f.Dependencies = append(f.Dependencies, group+":"+d.text("artifactId"))
		}
	}
	if main := value("project/build/plugins/plugin/configuration/mainClass"); main != "" {
		f.entry("src/main/java/" + strings.ReplaceAll(main, ".", "/") + ".java")
	}
	return err
}

// resolved replaces ${name} by a property of the same file. A value with an unknown property is empty.
func resolved(o object, value string) string {
	for range 8 {
		before, rest, ok := strings.Cut(value, "${")
		if !ok || len(value) > textBytes/64 {
			break
		}
		name, after, _ := strings.Cut(rest, "}")
		value = before + cmp.Or(o.text("project/properties/"+name),
			o.text("project/"+strings.TrimPrefix(name, "project.")), "$") + after
	}
	if strings.Contains(value, "$") {
		return ""
	}
	return value
}

func gradleSyntax() syntax {
	return syntax{line: []string{"//"}, block: true, quotes: `"'`, triple: true, words: "."}
}

// readGradle reads assignments at the top level, and the dependencies blocks.
func readGradle(f *file, text string) error {
	toks := lex(text, gradleSyntax())
	var shared tokens
	if i := toks.find("allprojects", "{"); i >= 0 {
		shared = toks.group(i + 1)
	}
	value := func(key string) string { return cmp.Or(gradleValue(toks, key, 0), gradleValue(shared, key, 0)) }
	f.Name = cmp.Or(gradleValue(toks, "archivesBaseName", 3), gradleValue(toks, "rootProject.name", 3))
	if group := value("group"); group != "" {
		f.Name = group + ":" + f.Name
	}
	f.fill(value)
	for _, key := range []string{"mainClass", "mainClassName", "mainClass.set", "application.mainClass"} {
		if main := gradleValue(toks, key, 3); main != "" {
			p := strings.ReplaceAll(strings.TrimSuffix(main, "Kt"), ".", "/")
			f.entry("src/main/java/"+p+".java", "src/main/kotlin/"+p+".kt")
			break
		}
	}
	f.gradleDependencies(toks)
	return nil
}

// gradleValue returns the literal in key = "…", key("…") or key "…", nested in at most so many brackets.
func gradleValue(toks tokens, key string, deep int) string {
	for i, t := range toks {
		if !t.is(key) || t.deep-toks[0].deep > deep {
			continue
		}
		if next := toks.past(i+1, "=("); next.kind == str && !strings.Contains(next.text, "$") {
			return next.text
		}
	}
	return ""
}

// gradleDependencies adds dependencies as group:name. Other configurations, such as those of tests, do not count.
func (f *file) gradleDependencies(toks tokens) {
	for i, t := range toks {
		if !t.is("api") && !t.is("implementation") && !t.is("compileOnlyApi") {
			continue
		}
		next := toks.past(i+1, "=(")
		if parts := strings.Split(next.text, ":"); next.kind == str && len(parts) >= 2 && parts[0] != "" {
			f.Dependencies = append(f.Dependencies, parts[0]+":"+parts[1])
		}
	}
}

// readGradleSettings reads the name and the included projects of a settings.gradle: ":a:b" is the folder a/b.
func readGradleSettings(f *file, text string) error {
	toks := lex(text, gradleSyntax())
	f.Name = gradleValue(toks, "rootProject.name", 3)
	for i := range toks {
		if !toks.has(i, "include") {
			continue
		}
		for _, t := range toks[i+1:] {
			if t.kind != str && !t.is("(") && !t.is(",") {
				break
			}
			if p := strings.Trim(strings.ReplaceAll(t.text, ":", "/"), "/"); t.kind == str && p != "" {
				f.Members = append(f.Members, p)
			}
		}
	}
	return nil
}

// readMSBuild reads a .NET project. A .props file only has settings that projects share, and no name.
func readMSBuild(f *file, text string) error {
	o, err := f.tree(parseXML, text)
	property := func(name string) string { return o.text("Project/PropertyGroup/" + name) }
	f.Requires = cmp.Or(property("TargetFramework"), strings.ReplaceAll(property("TargetFrameworks"), ";", ", "))
	base := path.Base(f.Path)
	ext := path.Ext(base)
	if ext == ".props" {
		return err
	}
	stem := strings.TrimSuffix(base, ext)
	f.Name = cmp.Or(property("PackageId"), property("AssemblyName"), stem)
	f.Private = strings.EqualFold(property("IsPackable"), "false") ||
		strings.Contains(o.text("Project/Sdk"), "Traversal")
	for _, p := range o.objects("Project/ItemGroup/PackageReference") {
		if !strings.EqualFold(p.text("PrivateAssets"), "all") {
			f.Dependencies = append(f.Dependencies, cmp.Or(p.text("Include"), p.text("Update")))
		}
	}
	if strings.EqualFold(property("OutputType"), "exe") || strings.EqualFold(property("PackAsTool"), "true") {
		f.command(cmp.Or(property("ToolCommandName"), property("AssemblyName"), stem))
		f.entry("Program.cs", "Program.fs")
	}
	return err
}

// readSolution reads the projects, but not the folders that only group them.
func readSolution(f *file, text string) error {
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(l), "Project(") {
			continue
		}
		parts := strings.Split(l, `"`)
		if len(parts) > 5 && strings.HasSuffix(parts[5], "proj") {
			f.Members = append(f.Members, parts[5])
		}
	}
	return nil
}

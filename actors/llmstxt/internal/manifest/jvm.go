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

// readGradle reads a build file. Its name is its group's, too.
func readGradle(f *file, text string) error {
	err, p := readProgram(f, text), f.program(text)
	if group := p.value("group"); group != "" {
		f.Name = group + ":" + f.Name
	}
	if main := p.value(cmp.Or(f.rules["main"].places...)); main != "" {
		main = strings.ReplaceAll(strings.TrimSuffix(main, "Kt"), ".", "/")
		f.entry("src/main/java/"+main+".java", "src/main/kotlin/"+main+".kt")
	}
	return err
}

// readGradleSettings reads the name and the included projects of a settings.gradle: ":a:b" is the folder a/b.
func readGradleSettings(f *file, text string) error {
	p := f.program(text)
	f.fill(p.value)
	for _, list := range p.all(cmp.Or(f.rules["included"].places...)) {
		for _, project := range literals.FindAllString(list, -1) {
			f.Members = append(f.Members, strings.Trim(strings.ReplaceAll(project[1:len(project)-1], ":", "/"), "/"))
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

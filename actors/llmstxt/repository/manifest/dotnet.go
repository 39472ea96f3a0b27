package manifest

import (
	"cmp"
	"path"
	"strings"
)

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

package manifest

import (
	"cmp"
	"path"
	"strings"
)

// properties are those of a project, by name; the first that does not stand for another counts.
type properties map[string]string

func (p properties) add(e element) {
	_, name, ok := strings.Cut(e.path, "Project/PropertyGroup/")
	if ok && p[name] == "" && !strings.Contains(e.text, "$(") {
		p[name] = e.text
	}
}

func readProject(m *Manifest, text string) error {
	p := make(properties)
	traversal := false
	err := walkXML(text, func(e element) {
		p.add(e)
		traversal = traversal || e.path == "Project" && strings.Contains(e.attr("Sdk"), "Traversal")
		if e.path == "Project/ItemGroup/PackageReference" && !strings.EqualFold(e.attr("PrivateAssets"), "all") {
			m.Dependencies = append(m.Dependencies, cmp.Or(e.attr("Include"), e.attr("Update")))
		}
	})
	base := path.Base(m.Path)
	stem := strings.TrimSuffix(base, path.Ext(base))
	m.Name = cmp.Or(p["PackageId"], p["AssemblyName"], stem)
	m.nuget(p)
	m.Private = traversal || strings.EqualFold(p["IsPackable"], "false")
	if strings.EqualFold(p["OutputType"], "exe") || strings.EqualFold(p["PackAsTool"], "true") {
		m.command(cmp.Or(p["ToolCommandName"], p["AssemblyName"], stem))
		m.entry("Program" + map[bool]string{true: ".fs", false: ".cs"}[strings.HasSuffix(base, ".fsproj")])
	}
	return err
}

func (m *Manifest) nuget(p properties) {
	m.Version = cmp.Or(p["Version"], p["PackageVersion"], p["VersionPrefix"])
	m.Description = cmp.Or(p["Description"], p["PackageDescription"])
	m.Homepage, m.Repository, m.License = p["PackageProjectUrl"], p["RepositoryUrl"], p["PackageLicenseExpression"]
	m.Requires = cmp.Or(p["TargetFramework"], strings.ReplaceAll(p["TargetFrameworks"], ";", ", "))
}

func readProps(m *Manifest, text string) error {
	p := make(properties)
	err := walkXML(text, p.add)
	m.nuget(p)
	return err
}

// readSolution takes the projects, not the folders that only group them.
func readSolution(m *Manifest, text string) error {
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(l), "Project(") {
			continue
		}
		parts := strings.Split(l, `"`)
		if len(parts) > 5 && strings.HasSuffix(parts[5], "proj") {
			m.Members = append(m.Members, path.Dir(strings.ReplaceAll(parts[5], `\`, "/")))
		}
	}
	return nil
}

func readSolutionXML(m *Manifest, text string) error {
	return walkXML(text, func(e element) {
		if p := e.attr("Path"); strings.HasSuffix(e.path, "/Project") && p != "" {
			m.Members = append(m.Members, path.Dir(strings.ReplaceAll(p, `\`, "/")))
		}
	})
}

package manifest

// readLeiningen reads the keys and values of defproject.
func readLeiningen(f *file, text string) error {
	toks := lex(text, syntax{line: []string{";"}, quotes: `"`, lines: true, words: ":./*+!?<>=-"})
	at := toks.find("(", "defproject")
	if at < 0 {
		return nil
	}
	project := toks.group(at)
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

package manifest

import "golang.org/x/mod/modfile"

func readGoMod(m *Manifest, text string) error {
	f, err := modfile.ParseLax(m.Path, []byte(text), nil)
	if err != nil {
		m.Name = modfile.ModulePath([]byte(text))
		return err
	}
	if f.Module != nil {
		m.Name = f.Module.Mod.Path
	}
	if f.Go != nil {
		m.Requires = "Go " + f.Go.Version
	}
	for _, r := range f.Require {
		if !r.Indirect {
			m.Dependencies = append(m.Dependencies, r.Mod.Path)
		}
	}
	return nil
}

func readGoWork(m *Manifest, text string) error {
	f, err := modfile.ParseWork(m.Path, []byte(text), nil)
	if err != nil {
		return err
	}
	if f.Go != nil {
		m.Requires = "Go " + f.Go.Version
	}
	for _, u := range f.Use {
		m.Members = append(m.Members, u.Path)
	}
	return nil
}

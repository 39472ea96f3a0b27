package manifest

import "golang.org/x/mod/modfile"

func readGoMod(f *file, text string) error {
	mod, err := modfile.ParseLax(f.Path, []byte(text), nil)
	if err != nil {
		f.Name = modfile.ModulePath([]byte(text))
		return err
	}
	if mod.Module != nil {
		f.Name = mod.Module.Mod.Path
	}
	if mod.Go != nil {
		f.Requires = "Go " + mod.Go.Version
	}
	for _, r := range mod.Require {
		if !r.Indirect {
			f.Dependencies = append(f.Dependencies, r.Mod.Path)
		}
	}
	return nil
}

func readGoWork(f *file, text string) error {
	mod, err := modfile.ParseWork(f.Path, []byte(text), nil)
	if err != nil {
		return err
	}
	if mod.Go != nil {
		f.Requires = "Go " + mod.Go.Version
	}
	for _, u := range mod.Use {
		f.Members = append(f.Members, u.Path)
	}
	return nil
}

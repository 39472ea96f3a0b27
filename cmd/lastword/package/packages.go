package main

import (
	"io"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

// packages makes the packages of Debian and of RPM; nfpm.yaml says what is in them.
func (r *release) packages(t target, stage string) error {
	variables := map[string]string{"VERSION": r.version, "ARCH": t.arch, "PROGRAM": r.binaries[t], "SHARE": stage + "/share", "HOME_PAGE": home}
	for _, format := range []string{"deb", "rpm"} {
		config, err := nfpm.ParseFileWithEnvMapping("nfpm.yaml", func(name string) string { return variables[name] })
		if err != nil {
			return err
		}
		info, err := config.Get(format)
		if err != nil {
			return err
		}
		info.MTime = r.at
		packager, err := nfpm.Get(format)
		if err != nil {
			return err
		}
		info = nfpm.WithDefaults(info)
		err = r.create(packager.ConventionalFileName(info), func(w io.Writer) error { return packager.Package(info, w) })
		if err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	_ "embed"
	"io"
	"regexp"
	"strings"
	"text/template"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb"
	_ "github.com/goreleaser/nfpm/v2/rpm"
)

var (
	//go:embed manifest.json
	manifest string
	//go:embed server.json
	server string
	//go:embed formula.rb.tmpl
	formula string
	//go:embed scoop.json.tmpl
	scoop string
)

// versioned returns the text with the release's version in place of the one that it was written with.
func (r *release) versioned(text string) string {
	written := regexp.MustCompile(`"version": "([^"]+)"`).FindStringSubmatch(text)[1]
	return strings.NewReplacer(`"`+written+`"`, `"`+r.version+`"`, "/v"+written+"/", "/v"+r.version+"/").Replace(text)
}

// bundle packs what MCP hosts install: the program with a manifest, for one system, since hosts cannot choose. server.json
// names the systems.
func (r *release) bundle(t target) error {
	name := "lastword-" + t.String() + ".mcpb"
	if !strings.Contains(server, name) {
		return nil
	}
	platform := t.os
	if platform == "windows" {
		platform = "win32"
	}
	about := strings.NewReplacer(`server/lastword"`, "server/"+t.program()+`"`, "PLATFORM", platform).Replace(r.versioned(manifest))
	return r.create(name, func(w io.Writer) error {
		return zipped(w, []file{{name: "manifest.json", text: about, mode: 0o644}, {name: "LICENSE", path: root + "/LICENSE", mode: 0o644},
			{name: "server/" + t.program(), path: r.binaries[t], mode: 0o755}}, r.at)
	})
}

var digest = regexp.MustCompile(`(lastword-[a-z0-9-]+\.mcpb)",\s+"fileSha256": "0+"`)

// manifests writes what the registry of MCP, Homebrew and Scoop read, with the digests of the archives.
func (r *release) manifests() error {
	err := r.create("server.json", func(w io.Writer) error {
		_, err := io.WriteString(w, digest.ReplaceAllStringFunc(r.versioned(server), func(found string) string {
			return strings.Replace(found, strings.Repeat("0", 64), r.sums[digest.FindStringSubmatch(found)[1]], 1)
		}))
		return err
	})
	if err == nil {
		err = r.fill("lastword.rb", formula)
	}
	if err == nil {
		err = r.fill("lastword.json", scoop)
	}
	return err
}

// fill executes the template, and writes what comes out.
func (r *release) fill(name, text string) error {
	t, err := template.New(name).Funcs(template.FuncMap{
		"home":    func() string { return home },
		"version": func() string { return r.version },
		"url":     func(archive string) string { return home + "/releases/download/v" + r.version + "/" + r.named(archive) },
		"sum":     func(archive string) string { return r.sums[r.named(archive)] },
		"folder":  func(system string) string { return r.named(system) },
	}).Parse(text)
	if err != nil {
		return err
	}
	return r.create(name, func(w io.Writer) error { return t.Execute(w, nil) })
}

// named returns the name of the archive that ends in this, such as linux-amd64.tar.gz.
func (r *release) named(end string) string { return "lastword-" + r.version + "-" + end }

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

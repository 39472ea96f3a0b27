package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
)

const unsaid = "NOASSERTION"

// components writes the list of components (SPDX 2.3): each program with its digest, and the modules that it says it holds.
func (r *release) components() error {
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: "lastword-" + r.version,
		DocumentNamespace: home + "/releases/download/v" + r.version + "/" + r.commit,
		CreationInfo: &spdx.CreationInfo{Created: r.at.Format(time.RFC3339),
			Creators: []common.Creator{{CreatorType: "Tool", Creator: "lastword-package"}}},
	}
	modules := map[string]*spdx.Package{}
	for _, t := range r.targets() {
		info, err := buildinfo.ReadFile(r.binaries[t])
		if err != nil {
			return err
		}
		program, err := r.component(t)
		if err != nil {
			return err
		}
		doc.Packages = append(doc.Packages, program)
		doc.Relationships = append(doc.Relationships, relation("DOCUMENT", common.TypeRelationshipDescribe, program.PackageSPDXIdentifier))
		std := &debug.Module{Path: "stdlib", Version: strings.TrimPrefix(info.GoVersion, "go")}
		for _, m := range append(info.Deps, std) {
			module := moduleOf(m)
			modules[string(module.PackageSPDXIdentifier)] = module
			doc.Relationships = append(doc.Relationships, relation(program.PackageSPDXIdentifier, common.TypeRelationshipDependsOn, module.PackageSPDXIdentifier))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(modules)) {
		doc.Packages = append(doc.Packages, modules[id])
	}
	return r.create("lastword-"+r.version+".spdx.json", func(w io.Writer) error { return json.Write(doc, w, json.Indent(" ")) })
}

// component describes the program of a system as a package of SPDX.
func (r *release) component(t target) (*spdx.Package, error) {
	data, err := os.ReadFile(r.binaries[t])
	return &spdx.Package{
		PackageName: "lastword", PackageVersion: r.version, PackageSPDXIdentifier: common.ElementID("Program-" + t.String()),
		PackageFileName: t.String() + "/" + t.program(), PackageDownloadLocation: home + "/releases/tag/v" + r.version,
		PackageChecksums:        []common.Checksum{{Algorithm: common.SHA256, Value: fmt.Sprintf("%x", sha256.Sum256(data))}},
		PackageLicenseConcluded: unsaid, PackageLicenseDeclared: "Apache-2.0", PackageCopyrightText: unsaid, PrimaryPackagePurpose: "APPLICATION",
	}, err
}

var unlike = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

// moduleOf describes a module in a program as a package of SPDX.
func moduleOf(m *debug.Module) *spdx.Package {
	return &spdx.Package{
		PackageName: m.Path, PackageVersion: m.Version,
		PackageSPDXIdentifier:   common.ElementID("Module-" + unlike.ReplaceAllString(m.Path+"-"+m.Version, "-")),
		PackageDownloadLocation: unsaid, PackageLicenseConcluded: unsaid, PackageLicenseDeclared: unsaid, PackageCopyrightText: unsaid,
		PackageExternalReferences: []*spdx.PackageExternalReference{{
			Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL, Locator: "pkg:golang/" + m.Path + "@" + m.Version}},
	}
}

func relation(from common.ElementID, what string, to common.ElementID) *spdx.Relationship {
	return &spdx.Relationship{RefA: common.MakeDocElementID("", string(from)), Relationship: what, RefB: common.MakeDocElementID("", string(to))}
}

package rank

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/mod/module"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/manifest"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
)

const (
	titleRunes   = 60 // length of the longest heading that can still be a name
	mostCommands = 8
)

var (
	namelessTitles = words.Of("nameless titles")
	scriptNames    = words.Of("scripts")
)

// title returns the title of the README, or else the name of the package, the repository or the folder.
func (v *survey) title() string {
	t := strings.TrimRight(emoji.ReplaceAllString(v.readme.Title, ""), " :!")
	if m := picture.FindStringSubmatch(v.readmeText); t == "" && m != nil && prose.HasWords(strings.ToLower(m[1]), strings.ToLower(cmp.Or(v.repo.Origin.Repo, v.repo.Name, m[1]))) {
		t = m[1]
	}
	t = titleQuestion.ReplaceAllString(titleFrame.ReplaceAllString(t, ""), "$1")
	name := moduleName(v.product().Name)
	t = titleVersion.ReplaceAllString(t, "")
	if written := v.asWritten(cmp.Or(name, v.repo.Origin.Repo, v.repo.Name)); written != "" && !prose.HasWords(strings.ToLower(t), strings.ToLower(written)) {
		return written
	}
	if before := tagline.ReplaceAllString(t, ""); v.isNamed(before) {
		t = before
	}
	if t != "" && utf8.RuneCountInString(t) <= titleRunes && !isNoName(t) && !strings.ContainsAny(t[len(t)-1:], "?.") {
		return t
	}
	about, ok := strings.CutPrefix(v.readme.Second, "About ")
	if ok && strings.Contains(strings.ToLower(v.root().About.Name), strings.ToLower(about)) {
		return about
	}
	if base := path.Base(v.repo.Origin.Prefix); v.repo.Origin.Prefix != "" && name == "" {
		name = base
	}
	return cmp.Or(name, v.repo.Origin.Repo, v.repo.Name)
}

// asWritten returns the name as a paragraph of the README that begins with it writes it; "" if none does.
func (v *survey) asWritten(name string) string {
	for _, p := range v.readme.Prose {
		if n := len(name); n > 1 && len(p.Text) > n && p.Text[n] == ' ' && strings.EqualFold(p.Text[:n], name) {
			return p.Text[:n]
		}
	}
	return ""
}

// isNamed reports whether the repository or its package has the name.
func (v *survey) isNamed(name string) bool {
	return slices.ContainsFunc([]string{moduleName(v.product().Name), v.repo.Origin.Repo, v.repo.Name}, func(known string) bool {
		return known != "" && prose.SameWords(known, name)
	})
}

// unreleased matches versions that nobody can install yet.
var unreleased = lazyregexp.New(`(?i)^.*([-.]dev|-snapshot|\$).*$`)

var (
	emoji         = lazyregexp.New(`^(:[^ :]+:|[^\x00-\x{2000}\pL]| )+|( |[\p{So}\x{FE0F}]|:[a-z_]+:)+$`) // emoji or their names, at either end of a title
	picture       = lazyregexp.New(`(?:!\[|<img [^>]*\balt=")([^\]"]+?)(?:[-_ ](?:[lL]ogo|[bB]anner)[^\]"]*)?[\]"]`)
	tagline       = lazyregexp.New(`(:| [-–—|]|,) .*$`)
	titleVersion  = lazyregexp.New(` v?\d+\.\d+\.\d+$`)
	titleQuestion = lazyregexp.New(`^What is (\S+)\?$`)
	titleFrame    = lazyregexp.New(`^([wW]elcome to|Introduction to|About) | (README|Readme)$`)
)

// isNoName reports whether the title is a heading that any README may have.
func isNoName(title string) bool {
	return namelessTitles.Has(strings.ToLower(strings.TrimRight(title, " :!?.")))
}

// moduleName returns the last element of a module path that is not a version, or of another package's name.
func moduleName(name string) string {
	prefix, _, _ := module.SplitPathVersion(name)
	return strings.Trim(shortName(prefix), ".")
}

// facts returns lines that can be checked, stay true when the file is committed, and help an agent to install, build and
// run.
func (v *survey) facts() []Fact {
	m := v.product()
	label := "Package"
	if m.Ecosystem == "go" {
		label = "Module"
	}
	version := strings.TrimPrefix(v.repo.Origin.Version, "v")
	if v.isPublished(m) {
		version = cmp.Or(unreleased.ReplaceAllString(m.Version, ""), version)
	} else {
		m = manifest.Manifest{Requires: m.Requires, License: m.License, Scripts: m.Scripts}
	}
	facts := []Fact{
		{label, packageFact(m)},
		{"Version", version},
		{"Requires", m.Requires},
		{"Install", v.installCommand(m)},
		{"Commands", listed(m.Commands, mostCommands)},
		{"Scripts", scripts(m)},
		{"Languages", v.mix.String()},
		{"Licence", v.licence(m.License)},
		{"Repository", v.links.home},
		{"Folder", v.links.prefix},
		{"Links", v.linksFact(version)},
	}
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Value == "" })
}

// linksFact returns a warning if links may show other content than what was read.
func (v *survey) linksFact(version string) string {
	switch {
	case v.links.ref == "" || v.links.hasLines():
		return ""
	case version == "":
		return "lead to the newest state of the default branch"
	}
	return "lead to the newest state of the default branch; the files read are version " + version
}

// packageFact returns the package's name with its ecosystem. The path of a Go module tells both.
func packageFact(m manifest.Manifest) string {
	switch {
	case m.Name == "" || m.Ecosystem == "go":
		return m.Name
	case m.Ecosystem == "gradle" && !strings.Contains(m.Name, ":"):
		return "" // the name of a build, under which nothing is published
	}
	return fmt.Sprintf("%s (%s)", m.Name, m.Ecosystem)
}

// scripts lists the commands to build, test and run.
func scripts(m manifest.Manifest) string {
	var parts []string
	for _, want := range scriptNames {
		i := slices.IndexFunc(m.Scripts, func(s manifest.Script) bool {
			return s.Name == want && utf8.RuneCountInString(s.Command) <= 120 && !strings.Contains(s.Command, "`")
		})
		if i >= 0 {
			parts = append(parts, want+": `"+m.Scripts[i].Command+"`")
		}
	}
	return strings.Join(parts[:min(len(parts), 6)], ", ")
}

// licence returns the SPDX names of the recognized licence files at the root. If the manifest names the same
// licences, its expression says how they are combined.
func (v *survey) licence(text string) string {
	var known []string
	for _, f := range v.repo.Files {
		if f.Kind != scan.Source && depth(f.Path) == 0 && page.IsLicence(f.Path) {
			if l := page.LicenceOf(v.head(f.Path, pageBytes)); l != "" && !slices.Contains(known, l) {
				known = append(known, l)
			}
		}
	}
	joined := prose.ContainsAny(text, " OR ", " AND ", "/")
	if len(known) == 0 || joined && !slices.ContainsFunc(known, func(l string) bool { return !strings.Contains(text, l) }) {
		return text
	}
	return strings.Join(known, ", ")
}

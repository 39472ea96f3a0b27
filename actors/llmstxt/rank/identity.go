package rank

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/mod/module"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/manifest"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

const (
	titleRunes   = 60 // of the longest heading that is still a name
	mostCommands = 8
)

var (
	namelessTitles    = words.Of("nameless titles")
	programsForMakers = words.Of("programs for makers")
	scriptNames       = words.Of("scripts")
)

// title is the README's own, else the package's name, else the repository's, else the folder's.
func (v *survey) title() string {
	t := strings.TrimRight(emoji.ReplaceAllString(v.readme.Title, ""), " :!")
	t = titleQuestion.ReplaceAllString(titleFrame.ReplaceAllString(t, ""), "$1")
	name := moduleName(v.product().Name)
	t = titleVersion.ReplaceAllString(t, "")
	if before, _, headline := strings.Cut(t, ": "); headline && v.isNamed(before) {
		t = before
	}
	if t != "" && utf8.RuneCountInString(t) <= titleRunes && !isNoName(t) && !strings.ContainsAny(t[len(t)-1:], "?.") {
		return t
	}
	about, ok := strings.CutPrefix(v.readme.Second, "About ")
	if ok && strings.Contains(strings.ToLower(v.root().about.Name), strings.ToLower(about)) {
		return about
	}
	if base := path.Base(v.repo.Origin.Prefix); v.repo.Origin.Prefix != "" && name == "" {
		name = base
	}
	return cmp.Or(v.spelled(name), v.repo.Origin.Repo, v.repo.Name)
}

// isNamed holds for a name that the repository, or its package, goes by.
func (v *survey) isNamed(name string) bool {
	return slices.ContainsFunc([]string{moduleName(v.product().Name), v.repo.Origin.Repo, v.repo.Name}, func(known string) bool {
		return known != "" && prose.SameWords(known, name)
	})
}

// spelled writes a name in capitals, as build files have it, as the README's prose begins with it.
func (v *survey) spelled(name string) string {
	if name == "" || name != strings.ToUpper(name) || name == strings.ToLower(name) {
		return name
	}
	for _, p := range v.readme.Prose {
		word, _, _ := strings.Cut(p.Text, " ")
		if word = strings.Trim(word, ",.:*`"); prose.SameWords(word, name) {
			return word
		}
	}
	return name
}

// unreleased is a version that nobody can install yet.
var unreleased = regexp.MustCompile(`(?i)^.*([-.]dev|-snapshot|\$).*$`)

var (
	emoji         = regexp.MustCompile(`^(:[^ :]+:|[^\x00-\x{2000}\pL]| )+|( |[\p{So}\x{FE0F}]|:[a-z_]+:)+$`) // or its name, at an end of a title
	titleVersion  = regexp.MustCompile(` v?\d+\.\d+\.\d+$`)
	titleQuestion = regexp.MustCompile(`^What is (\S+)\?$`)
	titleFrame    = regexp.MustCompile(`^([wW]elcome to|Introduction to|About) | (README|Readme)$`)
)

// isNoName tells headings that every README may have.
func isNoName(title string) bool {
	return namelessTitles.Has(strings.ToLower(strings.TrimRight(title, " :!?.")))
}

// moduleName is the last element of a module path that is not a version, or of another package's name.
func moduleName(name string) string {
	prefix, _, _ := module.SplitPathVersion(name)
	return strings.Trim(shortName(prefix), ".")
}

// facts are lines that hold for this commit, that can be checked, and by which an agent installs, builds and runs.
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
	commit := v.links.commit()
	if v.options.Ref == RefRelative {
		commit = "" // what lies beside the links may be newer
	}
	facts := []Fact{
		{label, packageFact(m)},
		{"Version", version},
		{"Requires", m.Requires},
		{"Install", v.installCommand(m)},
		{"Commands", listed(v.commandNames(m), mostCommands)},
		{"Scripts", scripts(m)},
		{"Languages", v.mix.String()},
		{"Licence", v.licence(m.License)},
		{"Repository", v.links.home},
		{"Folder", v.links.prefix},
		{"Commit", commit},
		{"Links", v.linksFact(version)},
	}
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Value == "" })
}

// linksFact warns where links may show something else than what was read.
func (v *survey) linksFact(version string) string {
	switch {
	case v.links.ref == "" || v.links.hasLines():
		return ""
	case version == "":
		return "lead to the newest state of the default branch"
	}
	return "lead to the newest state of the default branch; the files read are version " + version
}

// commandNames are those that the manifest installs. A build file also has the
// programs that test or show a library, so there the README must have the name.
func (v *survey) commandNames(m manifest.Manifest) []string {
	if !isBuildTree(m.Ecosystem) {
		return m.Commands
	}
	return slices.DeleteFunc(slices.Clone(m.Commands), func(name string) bool {
		return programsForMakers.In(strings.ToLower(name)) || v.named.Words[name] == 0
	})
}

func packageFact(m manifest.Manifest) string {
	switch {
	case m.Name == "" || m.Ecosystem == "go":
		return m.Name
	case m.Ecosystem == "gradle" && !strings.Contains(m.Name, ":"):
		return "" // the name of a build, by which nothing is published
	}
	return fmt.Sprintf("%s (%s)", m.Name, m.Ecosystem)
}

// scripts names those by which one builds, tests and runs.
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

// licence gives the SPDX names of the licence files at the root whose words are known; what the manifest says of the same
// licences says how they go together.
func (v *survey) licence(said string) string {
	var known []string
	for _, f := range v.repo.Files {
		if f.Kind != scan.Source && depth(f.Path) == 0 && page.IsLicence(f.Path) {
			if l := page.LicenceOf(v.head(f.Path, pageBytes)); l != "" && !slices.Contains(known, l) {
				known = append(known, l)
			}
		}
	}
	joined := prose.ContainsAny(said, " OR ", " AND ", "/")
	if len(known) == 0 || joined && !slices.ContainsFunc(known, func(l string) bool { return !strings.Contains(said, l) }) {
		return said
	}
	return strings.Join(known, ", ")
}

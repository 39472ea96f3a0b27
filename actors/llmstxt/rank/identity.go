package rank

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/page"
	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/repository/manifest"
	"github.com/seed889630bf/lastword/actors/repository/prose"
	"github.com/seed889630bf/lastword/actors/repository/scan"
)

// titleRunes is the longest heading that is still a name.
const titleRunes = 60

var (
	namelessTitles    = words.Of("nameless titles")
	programsForMakers = words.Of("programs for makers")
	scriptNames       = words.Of("scripts")
)

// title is the README's own, else the package's name, else the repository's, else the folder's.
func (v *survey) title() string {
	t := strings.TrimRight(emoji.ReplaceAllString(v.readme.Title, ""), " :!")
	t = titleFrame.ReplaceAllString(t, "")
	name := moduleName(v.product().Name)
	if t != "" && utf8.RuneCountInString(t) <= titleRunes && !isNoName(t) {
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
	if prose.SameWords(v.repo.Origin.Repo, name) {
		return v.repo.Origin.Repo
	}
	return name
}

var (
	emoji      = regexp.MustCompile(`^(:[^ :]+:|[^\x00-\x{2000}\pL]| )+`) // in front of a title, and names of pictures
	titleFrame = regexp.MustCompile(`^([wW]elcome to|Introduction to|About) | (README|Readme)$`)
)

// isNoName tells headings that every README may have.
func isNoName(title string) bool {
	return namelessTitles.Has(strings.ToLower(strings.TrimRight(title, " :!?.")))
}

// moduleName is the last element of a module path that is not a version.
func moduleName(module string) string {
	base := path.Base(strings.TrimSuffix(module, "/"+majorOf(module)))
	if _, artifact, ok := strings.Cut(base, ":"); ok {
		base = artifact
	}
	if base == "." || base == "/" {
		return ""
	}
	return base
}

// facts are lines that hold for this commit, that can be checked, and by which an agent installs, builds and runs.
func (v *survey) facts() []Fact {
	m := v.product()
	label := "Package"
	if m.Ecosystem == "go" {
		label = "Module"
	}
	version := cmp.Or(m.Version, strings.TrimPrefix(v.repo.Origin.Version, "v"))
	facts := []Fact{
		{label, packageFact(m)},
		{"Version", version},
		{"Requires", m.Requires},
		{"Install", v.installCommand(m)},
		{"Commands", quoted(v.commandNames(m), 8)},
		{"Scripts", scripts(m)},
		{"Languages", v.mix.String()},
		{"Licence", cmp.Or(v.licence(), m.License)},
		{"Repository", v.links.home},
		{"Folder", v.links.prefix},
		{"Commit", v.links.commit()},
		{"Links", v.linksFact(version)},
	}
	var known []Fact
	for _, f := range facts {
		if f.Value != "" {
			known = append(known, f)
		}
	}
	return known
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
	if m.Name == "" || m.Ecosystem == "go" {
		return m.Name
	}
	return fmt.Sprintf("%s (%s)", m.Name, m.Ecosystem)
}

func quoted(list []string, most int) string {
	var parts []string
	for _, s := range list[:min(len(list), most)] {
		if s != "" {
			parts = append(parts, "`"+s+"`")
		}
	}
	return strings.Join(parts, ", ")
}

// scripts names those by which one builds, tests and runs.
func scripts(m manifest.Manifest) string {
	var parts []string
	seen := make(map[string]bool)
	for _, want := range scriptNames {
		for _, s := range m.Scripts {
			if s.Name == want && !seen[s.Name] && utf8.RuneCountInString(s.Command) <= 120 &&
				!strings.Contains(s.Command, "`") {
				seen[s.Name] = true
				parts = append(parts, s.Name+": `"+s.Command+"`")
			}
		}
	}
	return strings.Join(parts[:min(len(parts), 6)], ", ")
}

// licence is the SPDX name of the first licence file at the root whose words are known.
func (v *survey) licence() string {
	for _, f := range v.repo.Files {
		if f.Kind == scan.Document && page.IsLicence(f.Path) {
			if l := page.LicenceOf(v.head(f.Path, pageBytes)); l != "" {
				return l
			}
		}
	}
	return ""
}

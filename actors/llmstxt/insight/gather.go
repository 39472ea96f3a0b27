package insight

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/secret"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/source/language"
	"github.com/seed889630bf/lastword/actors/llmstxt/shown"
)

// Material is what a model is shown of a repository.
type Material struct {
	Text string
	// Shown are the files of which it sees more than the path.
	Shown map[string]bool
}

const (
	manifestBytes = 2 << 10 // of one manifest
	headBytes     = 3 << 10 // of one file that matters
	bareBytes     = 1 << 10 // of one that has no note
	licenceBytes  = 2 << 10 // that a file may begin with
	leastExcerpt  = 200     // bytes that are worth showing
	surfaceLines  = 12      // of one file
	outlineLines  = 10      // of one section
)

// Gather chooses the material: at most budget bytes of it, the most telling first, and each block made neutral, which
// is to take from it what models read as more than text. It leaves the files' secrets out, and reports them. The only
// error is ctx's cause.
func Gather(ctx context.Context, files fs.FS, secrets *secret.Report, repo *scan.Repository, index *rank.Index,
	budget int, neutral func(text string) string) (Material, error) {
	g := &gatherer{files: shown.Open(ctx, files, false), secrets: secrets, repo: repo, index: index, room: budget, neutral: neutral,
		line: shown.Liner(), whole: map[string]bool{}, material: Material{Shown: map[string]bool{}}}
	defer g.files.Close()
	g.within(budget/8, g.front)
	g.within(budget/4, g.outline)
	front := g.taken()
	g.whole[index.Readme] = true // has the room that the rest leaves
	g.within(g.room-budget/4, func() { g.rest(budget) })
	rest := g.taken()
	delete(g.whole, index.Readme)
	g.file(index.Readme, g.room)
	g.material.Text = front + g.taken() + rest
	return g.material, g.err
}

// within gathers what has room in so many bytes.
func (g *gatherer) within(most int, gather func()) {
	kept := min(g.room, max(0, g.room-most))
	g.room -= kept
	gather()
	g.room += kept
}

// rest gathers files without a note first: they are what the model is wanted for.
func (g *gatherer) rest(budget int) {
	links, bare := byScore(g.index)
	for _, l := range bare {
		g.file(l.Path, min(bareBytes, max(leastExcerpt, budget/3/len(bare))))
	}
	for _, f := range g.repo.Files {
		if f.Kind == scan.Manifest && f.Place == scan.Product && !strings.Contains(f.Path, "/") {
			g.file(f.Path, min(manifestBytes, budget/8))
		}
	}
	g.within(budget/4, func() { g.surface(links) })
	for _, l := range links {
		g.file(l.Path, min(headBytes, budget/4))
	}
}

// taken gives what was added since it was last asked.
func (g *gatherer) taken() string {
	defer g.text.Reset()
	return g.text.String()
}

type gatherer struct {
	files    *shown.Files
	secrets  *secret.Report
	repo     *scan.Repository
	index    *rank.Index
	text     strings.Builder
	room     int
	line     func(s string) string
	neutral  func(text string) string
	whole    map[string]bool // files whose text is in it, or was looked for
	material Material
	err      error
}

// add takes a block whole or not at all, and neutral.
func (g *gatherer) add(block string) bool {
	block = g.neutral(block)
	if len(block) > g.room {
		return false
	}
	g.room -= len(block)
	g.text.WriteString(block)
	return true
}

// front says what is known of the repository without a model.
func (g *gatherer) front() {
	say := func(name, value string) {
		if value != "" {
			g.add(g.line(name) + ": " + g.line(value) + "\n")
		}
	}
	say("Title", g.index.Title)
	say("Summary", g.index.Summary)
	for _, f := range g.index.Facts {
		say(f.Name, f.Value)
	}
}

// outline lists the sections, so that the answer can name them and their files.
func (g *gatherer) outline() {
	for _, s := range g.index.Sections {
		lines := []string{"\nSection " + g.line(s.Name) + ":\n"}
		for _, l := range s.Links[:min(len(s.Links), outlineLines)] {
			lines = append(lines, "- "+g.line(l.Path)+": "+cmp.Or(g.line(l.Note), "(no note)")+"\n")
		}
		if more := len(s.Links) - outlineLines; more > 0 {
			lines = append(lines, fmt.Sprintf("- and %d more\n", more))
		}
		g.add(strings.Join(lines, ""))
	}
}

// surface lists what the files offer to others.
func (g *gatherer) surface(links []rank.Link) {
	for _, l := range links {
		lines := []string{"\nOffered by " + g.line(l.Path) + ":\n"}
		for _, s := range l.Symbols[:min(len(l.Symbols), surfaceLines)] {
			lines = append(lines, "- "+strings.TrimSuffix(g.line(s.Signature)+": "+g.line(s.Doc), ": ")+"\n")
		}
		if len(l.Symbols) > 0 && g.add(strings.Join(lines, "")) {
			g.material.Shown[l.Path] = true
		}
	}
}

// file shows the head of a file, once. A page elsewhere has none.
func (g *gatherer) file(name string, most int) {
	head := "\nFile " + g.line(name) + ":\n"
	most = min(most, g.room-len(head)-len("(cut)\n")-1)
	if g.err != nil || name == "" || g.whole[name] || most < leastExcerpt {
		return
	}
	g.whole[name] = true
	read, err := g.files.Read(name, most+licenceBytes)
	if err != nil {
		g.err = err
		return
	}
	g.secrets.Add(read.Found)
	text, cut := string(read.Text), read.Cut
	if strings.HasSuffix(strings.ToLower(name), ".md") {
		text = lean(text)
	} else {
		text = withoutLicence(text)
	}
	if text = g.neutral(text); len(text) > most {
		text, cut = strings.ToValidUTF8(text[:most], ""), cut+1
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	text = strings.TrimRight(text, "\n") + "\n"
	if cut > 0 {
		text += "(cut)\n"
	}
	if g.add(head + text) {
		g.material.Shown[name] = true
	}
}

// byScore gives the links that matter, and of all those without a note whose files are linked once, as many as a model
// may write notes for; the best first.
func byScore(index *rank.Index) (links, bare []rank.Link) {
	var optional []rank.Link
	for _, s := range index.Sections {
		if s.Name == rank.Optional {
			optional = s.Links
		} else {
			links = append(links, s.Links...)
		}
	}
	slices.SortStableFunc(links, func(a, b rank.Link) int { return cmp.Compare(b.Score, a.Score) })
	all, times := slices.Concat(links, optional), map[string]int{"": 2} // a page elsewhere has no path
	for _, l := range all {
		times[l.Path]++
	}
	for _, l := range all {
		if l.Note == "" && times[l.Path] == 1 && len(bare) < maxNotes {
			bare = append(bare, l)
		}
	}
	return links, bare
}

// withoutLicence takes away the comment that a file begins with, if it is a licence.
func withoutLicence(text string) string {
	if comment := firstComment.FindString(text); language.IsLicence(comment) {
		return text[len(comment):]
	}
	return text
}

var firstComment = regexp.MustCompile(`^(?:\s*(?:[/*#;(%-].*)?\n)+`)

// lean takes badges, pictures and the HTML around them out of a page, but not out of its code: they are long and say
// nothing.
func lean(page string) string {
	return gaps.ReplaceAllString(ornaments.ReplaceAllString(page, "$1"), "\n\n")
}

var (
	ornaments = regexp.MustCompile("(?ms)(^```.*?^```|^~~~.*?^~~~)|^[ \t]*(?:<|\\[!\\[|!\\[)[^\n]*\n?")
	gaps      = regexp.MustCompile(`\n(?:[ \t]*\n){2,}`)
)

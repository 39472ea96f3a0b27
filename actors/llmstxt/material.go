package llmstxt

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/sanitize"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/language"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/secret"
	"github.com/seed889630bf/lastword/internal/stable"
)

// Material is what a model sees of a repository.
type Material struct {
	Text string
	// Shown holds what the model sees of a file besides the path.
	Shown map[string]string
}

const (
	manifestBytes = 2 << 10 // of one manifest
	headBytes     = 3 << 10 // of one important file
	bareBytes     = 1 << 10 // of one file without a note
	licenceBytes  = 2 << 10 // of a licence at the beginning of a file
	leastExcerpt  = 200     // bytes that are worth showing
	surfaceLines  = 12      // of one file
	outlineLines  = 10      // of one section
)

// gather chooses the material: at most budget bytes, the most informative first. neutral removes from each block
// whatever models read as more than text. gather leaves out the files' secrets, and reports them. The only error is
// the cause of ctx.
func gather(ctx context.Context, files fs.FS, secrets *secret.Report, repo *scan.Repository, index *rank.Index,
	budget int, neutral func(text string) string) (Material, error) {
	g := &gatherer{files: sanitize.Open(ctx, files, false), secrets: secrets, repo: repo, index: index, room: budget, neutral: neutral,
		line: sanitize.Liner(), whole: map[string]bool{}, material: Material{Shown: map[string]string{}}}
	defer g.files.Close()
	g.withBudget(budget/8, g.front)
	g.withBudget(budget/4, g.outline)
	front := g.takeText()
	g.whole[index.Readme] = true // the README gets the room that the rest leaves
	g.withBudget(g.room-budget/4, func() { g.addOthers(budget) })
	rest := g.takeText()
	delete(g.whole, index.Readme)
	g.file(index.Readme, g.room)
	g.material.Text = front + g.takeText() + rest
	return g.material, g.err
}

// withBudget calls gather with at most so many bytes of room.
func (g *gatherer) withBudget(most int, gather func()) {
	kept := min(g.room, max(0, g.room-most))
	g.room -= kept
	gather()
	g.room += kept
}

// addOthers gathers files without a note first, because the model is asked for their notes.
func (g *gatherer) addOthers(budget int) {
	links, bare := byScore(g.index)
	for _, l := range bare {
		g.file(l.Path, min(bareBytes, max(leastExcerpt, budget/3/len(bare))))
	}
	for _, f := range g.repo.Files {
		if f.Kind == scan.Manifest && f.Place == scan.Product && !strings.Contains(f.Path, "/") {
			g.file(f.Path, min(manifestBytes, budget/8))
		}
	}
	g.withBudget(budget/4, func() { g.surface(links) })
	for _, l := range links {
		g.file(l.Path, min(headBytes, budget/4))
	}
}

// takeText returns the text that was added since its last call.
func (g *gatherer) takeText() string {
	defer g.text.Reset()
	return g.text.String()
}

// gatherer holds the state of a gather.
type gatherer struct {
	files    *sanitize.Files
	secrets  *secret.Report
	repo     *scan.Repository
	index    *rank.Index
	text     strings.Builder
	room     int
	line     func(s string) string
	neutral  func(text string) string
	whole    map[string]bool // files whose text was added or looked for
	material Material
	err      error
}

// add neutralizes a block, and adds it whole or not at all.
func (g *gatherer) add(block string) bool {
	block = g.neutral(block)
	if len(block) > g.room {
		return false
	}
	g.room -= len(block)
	g.text.WriteString(block)
	return true
}

// front adds what is known about the repository without a model.
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

// outline lists the sections, so that the answer can name their files.
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

// surface lists the exported names of the files.
func (g *gatherer) surface(links []rank.Link) {
	for _, l := range links {
		lines := []string{"\nOffered by " + g.line(l.Path) + ":\n"}
		for _, s := range l.Symbols[:min(len(l.Symbols), surfaceLines)] {
			lines = append(lines, "- "+strings.TrimSuffix(g.line(s.Signature)+": "+g.line(s.Doc), ": ")+"\n")
		}
		if offered := strings.Join(lines, ""); len(l.Symbols) > 0 && g.add(offered) {
			g.material.Shown[l.Path] += offered
		}
	}
}

// file adds the head of a file, once. A page outside of the repository has none.
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
		text = gaps.ReplaceAllString(ornaments.ReplaceAllString(text, "$1"), "\n\n")
	} else if comment := firstComment.FindString(text); language.IsLicence(comment) {
		text = text[len(comment):]
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
		g.material.Shown[name] += text
	}
}

// byScore returns the important links, the best first. bare are links without a note to files that are linked once,
// as many as a model may write notes for.
func byScore(index *rank.Index) (links, bare []rank.Link) {
	var optional []rank.Link
	for _, s := range index.Sections {
		if s.Name == rank.Optional {
			optional = s.Links
		} else {
			links = append(links, s.Links...)
		}
	}
	stable.Sort(links, func(a, b rank.Link) int { return cmp.Compare(b.Score, a.Score) })
	all, times := slices.Concat(links, optional), map[string]int{"": 2} // a page outside of the repository has no path
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

var firstComment = lazyregexp.New(`^(?:\s*(?:[/*#;(%-].*)?\n)+`)

var (
	// ornaments are badges, pictures and the HTML around them, except in code: they are long and say nothing.
	ornaments = lazyregexp.New("(?ms)(^```.*?^```|^~~~.*?^~~~)|^[ \t]*(?:<|\\[!\\[|!\\[)[^\n]*\n?")
	gaps      = lazyregexp.New(`\n(?:[ \t]*\n){2,}`)
)

package generate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/generate"
)

const maintainers = `# The Garden, for agents

> Everything that a gardener must know.

Water in the morning, never at noon.

- Remember: roses before weeds

## Start here

- [Weeds](docs/weeds.md): our own words
- [Gone](docs/gone.md): a page that is no more
- [The site](https://garden.example.com/): more pictures

## Optional

- [Soil](https://garden.example.com/docs/soil/): dig first
`

// garden is a repository with pages; its llms.txt is the text, if there is one.
func garden(t *testing.T, text string) string {
	t.Helper()
	files := map[string]string{
		"docs/weeds.md": "# Weeds\n\nHow to love the weeds of every garden.\n",
		"docs/soil.md":  "# Soil\n\nWhat a garden stands on, and how deep it goes.\n",
		"docs/roses.md": "# Roses\n\nHow to cut the roses of a garden in spring.\n",
	}
	if text != "" {
		files["llms.txt"] = text
	}
	return sample(t, files)
}

func inPlace(dir string) generate.Input {
	in := only(dir, dir)
	in.Layout = generate.LayoutFlat
	return in
}

// TestTheRepositorysOwnFileWins keeps title, summary, remarks, sections, order and notes of the llms.txt that the
// repository has, and fills what it lacks; with Fresh it is as if there were none.
func TestTheRepositorysOwnFileWins(t *testing.T) {
	dir := garden(t, maintainers)
	in := only(dir, t.TempDir())
	in.Layout = generate.LayoutFlat
	completed(t, newJob(t, in, nowhere))
	got := read(t, filepath.Join(in.Out, "llms.txt"))
	at := 0
	for _, want := range []string{
		"# The Garden, for agents\n\n> Everything that a gardener must know.\n",
		"- Note: Water in the morning, never at noon.\n", "- Remember: roses before weeds\n",
		"docs/weeds.md): our own words\n- [The site](https://garden.example.com/): more pictures\n",
		"docs/roses.md): How to cut the roses of a garden in spring.\n",
		"## Optional\n\n- [Soil](https://garden.example.com/docs/soil/): dig first\n",
	} {
		i := strings.Index(got[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or not in its place, in\n%s", want, got)
		}
		at += i
	}
	if strings.Contains(got, "gone.md") || strings.Contains(got, "docs/soil.md") {
		t.Errorf("links what is gone, or a page twice:\n%s", got)
	}

	in.Fresh = true
	completed(t, newJob(t, in, nowhere))
	with := read(t, filepath.Join(in.Out, "llms.txt"))
	without := only(garden(t, ""), t.TempDir())
	without.Layout = generate.LayoutFlat
	completed(t, newJob(t, without, nowhere))
	if strings.Contains(with, "our own words") || strings.Count(with, "\n") != strings.Count(read(t,
		filepath.Join(without.Out, "llms.txt")), "\n") {
		t.Errorf("with Fresh:\n%s", with)
	}
}

// TestOwnWordsOutliveRunsInPlace writes over the maintainers' file and keeps their words in each run after: they are
// told from ours, which follow the pages.
func TestOwnWordsOutliveRunsInPlace(t *testing.T) {
	dir := garden(t, maintainers)
	file := filepath.Join(dir, "llms.txt")
	completed(t, newJob(t, inPlace(dir), nowhere))
	first := read(t, file)
	completed(t, newJob(t, inPlace(dir), nowhere))
	if again := read(t, file); again != first {
		t.Errorf("the second run wrote\n%s\nafter\n%s", again, first)
	}
	write(t, filepath.Join(dir, "docs", "roses.md"), "# Roses\n\nHow to plant the roses of a garden in autumn.\n")
	completed(t, newJob(t, inPlace(dir), nowhere))
	if got := read(t, file); !strings.Contains(got, "in autumn") || !strings.Contains(got, "our own words") {
		t.Errorf("after a page changed:\n%s", got)
	}
}

// TestEditsOfAGeneratedFileStay writes a generated file anew until somebody edits it.
func TestEditsOfAGeneratedFileStay(t *testing.T) {
	dir := garden(t, "")
	file := filepath.Join(dir, "llms.txt")
	completed(t, newJob(t, inPlace(dir), nowhere))
	write(t, filepath.Join(dir, "docs", "weeds.md"), "# Weeds\n\nHow to pull the weeds of every garden.\n")
	completed(t, newJob(t, inPlace(dir), nowhere))
	made := read(t, file)
	if !strings.Contains(made, "How to pull the weeds") {
		t.Fatalf("the note is an old one:\n%s", made)
	}
	write(t, file, strings.Replace(made, "How to pull the weeds of every garden.", "edited by hand", 1))
	completed(t, newJob(t, inPlace(dir), nowhere))
	write(t, filepath.Join(dir, "docs", "soil.md"), "# Soil\n\nHow to turn the soil of a garden in winter.\n")
	completed(t, newJob(t, inPlace(dir), nowhere))
	if got := read(t, file); !strings.Contains(got, "edited by hand") || !strings.Contains(got, "in winter") {
		t.Errorf("the edit is lost, or the note of another page is an old one:\n%s", got)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	must(t, os.WriteFile(file, []byte(text), 0o644))
}

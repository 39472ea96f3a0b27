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
		"## Optional\n\n- [Soil](https://garden.example.com/docs/soil/): dig first <!-- lastword:",
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

// TestAFileRemembersWhatItOffered has nothing but llms.txt to tell what people have changed.
func TestAFileRemembersWhatItOffered(t *testing.T) {
	dir := garden(t, "")
	file := filepath.Join(dir, "llms.txt")
	again := func(change ...string) string {
		t.Helper()
		if len(change) > 0 {
			write(t, file, strings.NewReplacer(change...).Replace(read(t, file)))
		}
		for _, name := range []string{"llms.json", "llms-full.txt"} {
			os.Remove(filepath.Join(dir, name))
		}
		completed(t, newJob(t, inPlace(dir), nowhere))
		return read(t, file)
	}
	first := again()
	if said := first[strings.Index(first, "<!--"):]; len(said) > 400 || again() != first || again("\n", "\r\n") != first {
		t.Errorf("the comment has %d bytes, or a second run changes\n%s\ninto\n%s", len(said), first, read(t, file))
	}
	line := func(name string) string {
		_, rest, _ := strings.Cut(first, "- ["+name)
		rest, _, _ = strings.Cut(rest, "\n")
		return "- [" + name + rest + "\n"
	}
	edited := again(line("Roses"), "", "How to love the weeds of every garden.", "pull them")
	write(t, filepath.Join(dir, "docs", "soil.md"), "# Soil\n\nHow to turn the soil of a garden in winter.\n")
	write(t, filepath.Join(dir, "docs", "beds.md"), "# Beds\n\nHow wide the beds of a garden are.\n")
	second := again()
	if strings.Contains(edited+second, "roses.md") || !strings.Contains(second, "weeds.md): pull them") ||
		!strings.Contains(second, "in winter") || !strings.Contains(second, "beds.md") || again() != second {
		t.Errorf("after edits of people and pages:\n%s\nand then\n%s\nand again\n%s", edited, second, read(t, file))
	}
	in := inPlace(dir)
	in.NoMemory = true
	completed(t, newJob(t, in, nowhere))
	if got := read(t, file); strings.Contains(got, "<!--") {
		t.Errorf("without memory:\n%s", got)
	}
}

// TestPatterns lists what the settings include and exclude, whatever it is; title and facts are the repository's.
func TestPatterns(t *testing.T) {
	in := only(sample(t, map[string]string{"README.md": "# Garden\n\nGarden grows vegetables.\n", "docs/a.md": "# A\n\nAll of a garden.\n",
		"docs/inner/b.md": "# B\n\nBeds of a garden.\n", "tests/c.md": "# C\n\nChecks of a garden.\n"}), t.TempDir())
	in.Layout, in.Include, in.Exclude = generate.LayoutFlat, []string{"docs/**", "tests"}, []string{"inner/"}
	completed(t, newJob(t, in, nowhere))
	got := read(t, filepath.Join(in.Out, "llms.txt"))
	if !strings.Contains(got, "# Garden\n") || !strings.Contains(got, "docs/a.md") || !strings.Contains(got, "tests/c.md") ||
		strings.Contains(got, "README.md") || strings.Contains(got, "b.md") {
		t.Error(got)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	must(t, os.WriteFile(file, []byte(text), 0o644))
}

package rank_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

// TestNavigationInAnyFormat wants the pages in the order and under the groups of the maintainers, in whatever structured
// file these stand. "The page's own title wins over a key or a label."
func TestNavigationInAnyFormat(t *testing.T) {
	const order = "docs/zoo.md docs/ape.md docs/yak.md docs/bee.md"
	var pages strings.Builder
	for name := range strings.FieldsSeq(order) {
		pages.WriteString("-- " + name + " --\n# Heading of " + name + "\n\nThis page is about an animal that lives in the wild.\n")
	}
	for _, table := range []string{
		"-- mkdocs.yml --\nsite_name: Animals\nnav:\n  - Large:\n      - The zoo: zoo.md\n      - The ape: ape.md\n  - Small:\n    - The yak: yak.md\n    - The bee: bee.md\n",
		"-- docs/.vitepress/config.mts --\nexport default { themeConfig: { sidebar: [\n { text: 'Large', items: [{ text: 'The zoo', link: '/zoo' }, { text: 'The ape', link: '/ape' }] },\n" +
			" { text: 'Small', items: [{ text: 'The yak', link: '/yak' }, { text: 'The bee', link: '/bee' }] }] } }\n",
		"-- docs/docs.json --\n{\"navigation\": [{\"group\": \"Large\", \"pages\": [\"zoo\", \"ape\"]}, {\"group\": \"Small\", \"pages\": [\"yak\", \"bee\"]}]}\n",
		"-- docs/SUMMARY.md --\n# Animals\n\n## Large\n\n- [The zoo](zoo.md)\n  - [The ape](ape.md)\n\n## Small\n\n- [The yak](yak.md)\n- [The bee](bee.md)\n",
		"-- docs/conf.py --\nextensions = [\"myst_parser\"]\n-- docs/index.rst --\nAnimals\n=======\n\n.. toctree::\n   :caption: Large\n\n   zoo\n   ape\n\n.. toctree::\n   :caption: Small\n\n   yak\n   bee\n",
	} {
		index := build(t, pages.String()+table, scan.Origin{}, rank.Options{})
		var paths, titles []string
		for _, s := range index.Sections {
			for _, l := range s.Links {
				if strings.HasSuffix(l.Path, ".md") {
					paths, titles = append(paths, s.Name+":"+l.Path), append(titles, l.Title)
				}
			}
		}
		if got := strings.Join(paths, " "); got != "Large:docs/zoo.md Large:docs/ape.md Small:docs/yak.md Small:docs/bee.md" {
			t.Errorf("%s\ngives %s", table, got)
		}
		if !slices.Contains(titles, "Heading of docs/yak.md") {
			t.Errorf("%s\ngives the titles %q", table, titles)
		}
	}
}

func TestNumbersAreAnOrder(t *testing.T) {
	var archive strings.Builder
	for i, name := range []string{"02-b.md", "10-c.md", "01-a.md", "11-d.md"} {
		archive.WriteString(fmt.Sprintf("-- book/%s --\n# Chapter %d\n\nIt tells of what comes in this part of the book.\n", name, i))
	}
	archive.WriteString("-- guide/z.md --\n---\nsidebar_position: 1\n---\n# Z\n\nBegins the guide for all who read it.\n" +
		"-- guide/y.md --\n---\nsidebar_position: 2\n---\n# Y\n\nGoes on with the guide for them.\n" +
		"-- guide/x.md --\n---\nsidebar_position: 3\n---\n# X\n\nIs the third page of this guide.\n" +
		"-- guide/w.md --\n---\nsidebar_position: 4\n---\n# W\n\nEnds the guide that you have read.\n")
	const want = "Book: book/01-a.md book/02-b.md book/10-c.md book/11-d.md\nGuide: guide/z.md guide/y.md guide/x.md guide/w.md\n"
	if got := outline(build(t, archive.String(), scan.Origin{}, rank.Options{})); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestUseOverridesWordsOfPaths defends a benchmark tool, whose core lies in src/benchmark.
func TestUseOverridesWordsOfPaths(t *testing.T) {
	var archive strings.Builder
	archive.WriteString("-- Cargo.toml --\n[package]\nname = \"frob\"\n-- src/main.rs --\nmod benchmark;\nuse crate::benchmark::Runner;\nfn main() { Runner::new(); }\n" +
		"-- src/benchmark/mod.rs --\n//! Runs what is to be measured.\npub struct Runner;\nimpl Runner { pub fn new() {} }\n" +
		"-- bench/old.rs --\nfn old() {}\n")
	for i := range 40 {
		archive.WriteString(fmt.Sprintf("-- src/part%d.rs --\nuse crate::benchmark::Runner;\npub fn part%d() { Runner::new(); }\n", i, i))
	}
	index := build(t, archive.String(), scan.Origin{}, rank.Options{Links: 12})
	if find(index, "src/benchmark/mod.rs").Path == "" || find(index, "src/main.rs").Path == "" {
		t.Errorf("the core is not linked:\n%s", outline(index))
	}
	if find(index, "bench/old.rs").Path != "" {
		t.Errorf("what nobody uses is linked:\n%s", outline(index))
	}
}

// TestWhatUsesMuchComesFirst: controllers, screens and commands use much of the product and are used by few.
func TestWhatUsesMuchComesFirst(t *testing.T) {
	var archive strings.Builder
	archive.WriteString("-- app/work.py --\nfrom app.a0 import Thing0\nfrom app.a1 import Thing1\nfrom app.a2 import Thing2\nfrom app.a3 import Thing3\n" +
		"def work(): return Thing0, Thing1, Thing2, Thing3\n-- app/__init__.py --\n")
	for i := range 8 {
		archive.WriteString(fmt.Sprintf("-- app/a%d.py --\nclass Thing%d:\n    pass\n", i, i))
	}
	index := build(t, archive.String(), scan.Origin{}, rank.Options{})
	if got := index.Sections[0].Links[0].Path; got != "app/work.py" {
		t.Errorf("%s is first:\n%s", got, outline(index))
	}
}

func TestWhatIsNotForReaders(t *testing.T) {
	index := build(t, fixture(t, "what_is_not_for_readers"), scan.Origin{}, rank.Options{})
	const want = "Docs: README.md docs/MigratingTo1.10.md docs/MigratingTo1.11.md\nSource: frob.js\nConfiguration: package.json\nOptional: .github/CONTRIBUTING.md LICENSE\n"
	if got := outline(index); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for _, want := range []string{"deps/other/other.js made by others", "docs/CHANGELOG.md what changed",
		"README.中文.md a translation", "docs/blog/posts/new.md news", "create/template-solid/README.md news",
		"docs/old.md its text", "docs/how.rst its text", "Frob.slnx for tools", "examples/a.output for tools",
		"release notes/v1.2.md what changed", "docs/proposals/000-template.md a form", "openspec/changes/archive/turn/design.md what changed",
		"skills/frob/references/turn.md made", "docs/MigratingTo1.9.md about an older version", "examples/package.json builds"} {
		if !strings.Contains(fmt.Sprint(index.Passed), want) {
			t.Errorf("%s is not among %v", want, index.Passed)
		}
	}
}

// What builds a site, and pages about people, get no link. Pages behind the groups of the navigation follow them.
func TestWhatMakesASite(t *testing.T) {
	const archive = "-- README.md --\n# Frob\n\nFrob is a library for widgets.\n-- frob.js --\nexport const frob = 1\n" +
		"-- website/docusaurus.config.js --\nexport default {title: \"Frob\", presets: [[\"classic\", {docs: {sidebarPath: \"./sidebars.js\"}}]]}\n-- website/README.md --\n# Website\n\nThis site is built by a program.\n" +
		"-- website/package.json --\n{\"name\": \"website\"}\n-- website/src/theme/Layout.js --\nexport const layout = 1\n" +
		"-- website/sidebars.js --\nexport default {docs: [\"index\", {label: \"Start\", items: [\"a\", \"b\"], type: \"category\"}, " +
		"{label: \"More\", items: [\"c\", \"d\"], type: \"category\"}, \"faq\", \"kudos\", \"opensource-users\"]}\n-- website/docs/index.md --\n# Frob\n\nFrob turns any widget around.\n"
	var pages strings.Builder
	for _, p := range []string{"a", "b", "c", "d", "faq", "kudos", "opensource-users"} {
		pages.WriteString("-- website/docs/" + p + ".md --\n# Page " + p + "\n\nIt says something of some length.\n")
	}
	index := build(t, archive+pages.String(), scan.Origin{}, rank.Options{})
	const want = "Docs: README.md website/docs/index.md\nStart: website/docs/a.md website/docs/b.md\nMore: website/docs/c.md website/docs/d.md\n" +
		"More docs: website/docs/faq.md\nSource: frob.js\n"
	if got := outline(index); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if title := index.Sections[0].Links[1].Title; title != "Documentation" {
		t.Errorf("the site's first page, which has the project's title, is called %q", title)
	}
}

// The README and pages have their places even where the site has more pages than are read.
func TestReadmeOfALargeSite(t *testing.T) {
	var archive, toc strings.Builder
	for i := range 600 {
		fmt.Fprintf(&toc, "- docs/p%03d.md\n", i)
		fmt.Fprintf(&archive, "-- docs/p%03d.md --\n# Page %d\n\nPage %d says something of some length.\n", i, i, i)
	}
	archive.WriteString("-- README.md --\n# Frob\n\nFrob is a library for widgets.\n-- mkdocs.yml --\nnav:\n" + strings.ReplaceAll(toc.String(), "docs/", ""))
	if got := outline(build(t, archive.String(), scan.Origin{}, rank.Options{})); !strings.HasPrefix(got, "Docs: README.md docs/p000.md docs/p001.md") {
		t.Error(got)
	}
}

// TestChaptersAreNotLeftOut keeps the page under which others stand where a book has more than can be linked.
func TestChaptersAreNotLeftOut(t *testing.T) {
	var archive, summary strings.Builder
	var want []string
	for c := range 20 {
		head := fmt.Sprintf("src/c%02d.md", c)
		want = append(want, head)
		fmt.Fprintf(&archive, "-- %s --\n# Chapter %d\n\nIt is short.\n\nIts parts say more.\n", head, c)
		fmt.Fprintf(&summary, "- [Chapter %d](c%02d.md)\n", c, c)
		for s := range 4 {
			fmt.Fprintf(&archive, "-- src/c%02d-%d.md --\n# Part %d.%d\n%s", c, s, c, s, strings.Repeat("\nIt has much to say of its part.\n", 20))
			fmt.Fprintf(&summary, "  - [Part %d.%d](c%02d-%d.md)\n", c, s, c, s)
		}
	}
	got := outline(build(t, archive.String()+"-- src/SUMMARY.md --\n# Summary\n\n"+summary.String(), scan.Origin{}, rank.Options{Links: 40}))
	for _, head := range want {
		if !strings.Contains(got, head) {
			t.Errorf("%s is not linked:\n%s", head, got)
		}
	}
}

// Instructions for agents, and skills for users, stand under the first heading of the site for agents.
func TestHeadingForAgents(t *testing.T) {
	var archive strings.Builder
	archive.WriteString("-- mkdocs.yml --\nnav:\n- Start: [a.md, b.md]\n- AI agents: [c.md, d.md]\n" +
		"-- AGENTS.md --\n# For agents\n-- skills/x/SKILL.md --\n# Use x\n-- .claude/skills/y/SKILL.md --\n# Mend y\n")
	for _, p := range []string{"a", "b", "c", "d"} {
		archive.WriteString("-- docs/" + p + ".md --\n# Page " + p + "\n\nIt says something of some length.\n")
	}
	const want = "AI agents: docs/c.md docs/d.md AGENTS.md skills/x/SKILL.md"
	if got := outline(build(t, archive.String(), scan.Origin{}, rank.Options{})); !strings.Contains(got, want) {
		t.Errorf("got\n%swant %s", got, want)
	}
}

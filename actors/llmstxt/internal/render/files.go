package render

import (
	"cmp"
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/sanitize"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/tokens"
	"github.com/seed889630bf/lastword/internal/secret"
	"github.com/seed889630bf/lastword/internal/stable"
)

// Pack says what llms-full.txt and llms-ctx.txt contain besides the front of llms.txt. The zero value packs the
// linked files, whatever their size.
type Pack struct {
	// Rest lists further files to pack, the most important first.
	Rest []string
	// FileBytes bounds the text of one file; 0 means 256 KiB.
	FileBytes int
	// Bytes and Tokens bound the whole file, unless they are 0. The least important files that exceed them are left
	// out.
	Bytes, Tokens int64
	// Counts counts tokens.
	Counts *tokens.Counts
	// Linked is called with the number of tokens of each linked file. It may be nil.
	Linked func(path string, tokens int)
	// Secrets collects what was redacted.
	Secrets *secret.Report
	// KeepSecrets leaves secrets in the text.
	KeepSecrets bool
	// Go runs f concurrently, so that files are read ahead of writing; without it one file is read after the other.
	// It may be nil.
	Go func(f func(ctx context.Context) error)
}

const defaultFileBytes = 256 << 10

// withDefaults returns the pack with its defaults: then neither Secrets nor Counts is nil.
func (p Pack) withDefaults() Pack {
	if p.FileBytes <= 0 {
		p.FileBytes = defaultFileBytes
	}
	if p.Secrets == nil {
		p.Secrets = new(secret.Report)
	}
	if p.Counts == nil {
		p.Counts = new(tokens.Counts)
	}
	return p
}

// texts opens the files. The caller reports their secrets.
func (p Pack) texts(ctx context.Context, files fs.FS) *sanitize.Files {
	return sanitize.Open(ctx, files, p.KeepSecrets)
}

// entry is a place for the text of a file.
type entry struct {
	section int // -1 for a file that is not linked
	link    Link
}

// entries lists the linked files in the order of the sections, then the rest by path, each once.
func (v cleaned) entries(rest []string) (list []entry) {
	seen := map[string]bool{"": true}
	add := func(section int, l Link) {
		if !seen[l.file] && !strings.HasSuffix(l.file, "/") { // a folder has no text
			list = append(list, entry{section, l})
			seen[l.file] = true
		}
	}
	for i, s := range v.sections {
		for _, l := range s.Links {
			add(i, l)
		}
	}
	for _, p := range slices.Sorted(slices.Values(rest)) {
		add(-1, Link{file: p})
	}
	return list
}

// byImportance returns the indexes of the entries, the most important first: links before the rest, and Optional last
// among the links. Licences and changelogs come last in either group.
func (v cleaned) byImportance(list []entry, rest []string) []int {
	order, place := make([]int, len(list)), make(map[string]int)
	for i, p := range rest {
		place[p] = i
	}
	for i := range order {
		order[i] = i
	}
	stable.Sort(order, func(i, j int) int {
		a, b := list[i], list[j]
		return cmp.Or(cmp.Compare(v.class(a), v.class(b)), cmp.Compare(b.link.Score, a.link.Score),
			cmp.Compare(place[a.link.file], place[b.link.file]))
	})
	return order
}

// class returns the group of an entry for byImportance.
func (v cleaned) class(e entry) int {
	name, _, _ := strings.Cut(strings.ToLower(path.Base(e.link.file)), ".")
	last := slices.Contains(leastNames, name)
	switch {
	case e.section < 0 && last:
		return 4
	case e.section < 0:
		return 3
	case last:
		return 2
	case v.sections[e.section].Name == rank.Optional:
		return 1
	}
	return 0
}

// leastNames are the names of licences and changelogs.
var leastNames = []string{"license", "licence", "copying", "unlicense", "notice", "changelog", "changes", "history",
	"news", "releases", "release-notes", "release_notes"}

// FindSecrets reads the files that the pack contains, without a budget, and collects their secrets. The only error is
// the cause of ctx.
func FindSecrets(ctx context.Context, files fs.FS, index *rank.Index, pack Pack) error {
	pack = pack.withDefaults()
	texts := pack.texts(ctx, files)
	defer texts.Close()
	for _, e := range newCleaned(index).entries(pack.Rest) {
		f, err := texts.Read(e.link.file, pack.FileBytes)
		if err != nil {
			return err
		}
		pack.Secrets.Add(f.Found)
	}
	return nil
}

package checks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/generate"
	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository"
)

// Rule of --stale.
const ruleStale llmstxt.Rule = "stale" // nothing that the file describes has changed since it was generated

// fresh finds what has changed since the commit that most links refer to. The commit of the file itself is always
// later, so only the files that it describes count.
func (c *checker) fresh(ctx context.Context, f *checkedFile, folder string, doc *llmstxt.Txt) error {
	where := cmp.Or(c.repository, folder)
	if where == "" {
		return messages.InvalidInput("--stale needs the folder of the repository: --repository <folder>")
	}
	links, line, named := doc.Links(), 0, "which the links are pinned to"
	beside := documentBeside(f.Path)
	if f.Commit, line = commitOf(links); f.Commit == "" && beside != nil && beside.Repository.Commit != "" {
		f.Commit, line, named = beside.Repository.Commit, 1, "which the file was generated from"
	}
	if f.Commit == "" {
		return c.compare(ctx, f, cmp.Or(c.repository, settings.RepositoryOf(folder)), doc)
	}
	repo, head, prefix, err := c.checkouts.open(where)
	if err != nil {
		return err
	}
	f.Head = head
	changes, err := c.checkouts.since(ctx, repo, f.Commit)
	if err != nil {
		return messages.InvalidInput("--stale: %v", err)
	}
	if changes.Gap != "" {
		f.Stale = true
		f.problem(line, ruleStale, llmstxt.SeverityWarning,
			"lastword cannot find what changed since %s, %s: %s", terminal.ShortCommit(f.Commit), named, changes.Gap)
		return nil
	}
	root := settings.Real(cmp.Or(folder, where))
	s := subject{file: below(repo.Top, filepath.Join(root, filepath.Base(f.Path))), linked: map[string]bool{}}
	if c.repository != "" {
		s.folder = prefix
	}
	s.follow(f.Commit, links, below(repo.Top, root), prefix)
	if beside != nil {
		s.followDocument(beside)
	}
	s.committed(f, line, named, changes)
	return s.uncommitted(ctx, f, line, repo)
}

// subject is what a checked file describes. All paths have slashes and start at the top of the work tree.
type subject struct {
	file   string          // "" if it is outside the repository
	folder string          // "" means the whole repository
	linked map[string]bool // files and folders
}

// follow adds the targets of links to the commit, and of relative links, seen from each of the folders.
func (s *subject) follow(commit string, links []llmstxt.TxtLink, folders ...string) {
	for _, l := range links {
		if name, relative := target(l.URL); relative {
			for _, folder := range folders {
				s.linked[path.Join(folder, name)] = true
			}
		} else if at, name := pinnedTo(l.URL); at == commit {
			s.linked[name] = true
		}
	}
	delete(s.linked, ".")
	delete(s.linked, "")
}

// followDocument adds the files that llms.json links to.
func (s *subject) followDocument(d *llmstxt.Document) {
	for _, section := range d.Sections {
		for _, l := range section.Links {
			s.linked[path.Join(d.Repository.Folder, l.Path)] = true
		}
	}
}

// links reports whether a link leads to the path or to a folder that contains it.
func (s *subject) links(name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if s.linked[name] {
			return true
		}
	}
	return false
}

// counts reports whether a change of the path makes the file stale. The file itself, and generated files beside it, do
// not count: if committed together, they would keep each other stale. Generated files elsewhere count if they are
// linked.
func (s *subject) counts(name string) bool {
	dir := path.Dir(s.file)
	beside := s.file != "" && slices.Contains([]string{dir, path.Join(dir, "graph"), path.Join(dir, "graph/nodes")},
		path.Dir(name))
	switch {
	case name == s.file, beside && IsCompanion(name):
		return false
	case s.links(name):
		return true
	}
	return !IsCompanion(name) && (s.folder == "" || strings.HasPrefix(name, s.folder+"/"))
}

// IsCompanion reports whether generate writes files with this name.
func IsCompanion(name string) bool {
	for _, end := range []string{"llms.txt", "llms-full.txt", "llms-ctx.txt", "llms.json"} {
		if strings.HasSuffix(path.Base(name), end) {
			return true
		}
	}
	_, of, ok := strings.Cut("/"+name, "/graph/")
	return ok && (of == "repo.graph.json" || of == "repo.force.json" || llmstxt.IsPage(of))
}

// committed reports the files that changed between the file's commit and the repository's. It names linked files first.
func (s *subject) committed(f *checkedFile, line int, named string, changes *repository.Changes) {
	var linked, others []string
	for _, name := range changes.Paths {
		switch {
		case !s.counts(name):
		case s.links(name):
			linked = append(linked, name+" (linked)")
			delete(s.linked, name)
		default:
			others = append(others, name)
		}
	}
	changed := int64(len(linked) + len(others))
	if changed == 0 && !changes.More {
		return
	}
	f.Stale, f.Changed = true, changed
	sentence := words.Count(changed, "file")
	if changes.More {
		sentence = "more than " + sentence
	}
	f.problem(line, ruleStale, llmstxt.SeverityWarning, "%s changed since %s, %s: %s",
		sentence, terminal.ShortCommit(f.Commit), named, firstFew(append(linked, others...)))
}

// uncommitted looks for uncommitted changes. It checks only linked files, because it must read each file.
func (s *subject) uncommitted(ctx context.Context, f *checkedFile, line int, repo *repository.Checkout) error {
	edited, err := repo.Edited(ctx, slices.DeleteFunc(slices.Collect(maps.Keys(s.linked)), func(name string) bool {
		return !s.counts(name)
	}))
	if err != nil || len(edited) == 0 {
		return err
	}
	f.Stale = true
	f.Changed += int64(len(edited))
	f.problem(line, ruleStale, llmstxt.SeverityWarning, "%s changed without a commit: %s",
		words.Count(len(edited), "linked file"), firstFew(edited))
	return nil
}

// firstFew returns up to five of the names as text.
func firstFew(names []string) string {
	const most = 5
	list := strings.Join(names[:min(len(names), most)], ", ")
	if more := len(names) - most; more > 0 {
		list += fmt.Sprintf(" and %s more", words.Thousands(int64(more)))
	}
	return list
}

// below returns the path relative to top; "" for top itself and for paths outside. The path must have no symbolic
// links.
func below(top, name string) string {
	rel, err := filepath.Rel(top, name)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// commitOf returns the commit that most links refer to, with the line of the first such link. If there are several, the
// first wins.
func commitOf(links []llmstxt.TxtLink) (commit string, line int) {
	named, first := map[string]int{}, map[string]int{}
	for _, l := range links {
		if c, _ := pinnedTo(l.URL); c != "" {
			named[c]++
			first[c] = cmp.Or(first[c], l.Line)
		}
	}
	for _, c := range slices.Sorted(maps.Keys(named)) {
		if named[c] > named[commit] || named[c] == named[commit] && first[c] < first[commit] {
			commit = c
		}
	}
	return commit, first[commit]
}

// pinnedTo returns the first full commit hash (SHA-1 or SHA-256) in the link's path, and the path after it.
func pinnedTo(link string) (commit, name string) {
	u, err := url.Parse(link)
	if err != nil {
		return "", ""
	}
	for rest, more := u.Path, true; more; {
		var segment string
		segment, rest, more = strings.Cut(rest, "/")
		if n := len(segment); (n == 40 || n == 64) && strings.Trim(segment, "0123456789abcdef") == "" {
			return segment, strings.Trim(rest, "/")
		}
	}
	return "", ""
}

// checkouts holds the repositories that check reads. Each is opened once.
type checkouts struct {
	byTop map[string]*repository.Checkout
	last  struct {
		of      *repository.Checkout
		commit  string
		changes *repository.Changes
	}
}

// open opens the folder's work tree.
func (c *checkouts) open(folder string) (repo *repository.Checkout, commit, prefix string, err error) {
	top := settings.RepositoryOf(folder)
	if repo = c.byTop[top]; repo == nil {
		if repo, err = repository.OpenCheckout(folder); err != nil {
			return nil, "", "", messages.InvalidInput("--stale: %v", err)
		}
		if repo == nil {
			return nil, "", "", noCommit(folder)
		}
		if c.byTop == nil {
			c.byTop = map[string]*repository.Checkout{}
		}
		c.byTop[top] = repo
	}
	commit, prefix, err = repo.Commit(folder)
	switch {
	case err != nil:
		return nil, "", "", messages.InvalidInput("--stale: %v", err)
	case commit == "":
		return nil, "", "", noCommit(folder)
	}
	return repo, commit, prefix, nil
}

func noCommit(folder string) error {
	return messages.InvalidInput("--stale: %s is not part of a commit; name the folder of the repository with --repository",
		folder)
}

// since caches the last result, because all files of one run refer to the same commit.
func (c *checkouts) since(ctx context.Context, repo *repository.Checkout, commit string) (*repository.Changes, error) {
	if c.last.of == repo && c.last.commit == commit {
		return c.last.changes, nil
	}
	changes, err := repo.Since(ctx, commit)
	if err != nil {
		return nil, err
	}
	c.last.of, c.last.commit, c.last.changes = repo, commit, changes
	return changes, nil
}

func (c *checkouts) close() error {
	var all error
	for _, repo := range c.byTop {
		all = errors.Join(all, repo.Close())
	}
	return all
}

// compare generates llms.txt again for the folder of the repository. The file is stale if the result differs.
func (c *checker) compare(ctx context.Context, f *checkedFile, folder string, is *llmstxt.Txt) error {
	text, err := c.generate(ctx, folder)
	if err != nil {
		return err
	}
	now, _ := llmstxt.Parse(string(text))
	before, after := saidBy(is), saidBy(now)
	gone := slices.DeleteFunc(slices.Clone(before), func(s string) bool { return slices.Contains(after, s) })
	come := slices.DeleteFunc(slices.Clone(after), func(s string) bool { return slices.Contains(before, s) })
	if changed := append(gone, come...); len(changed) > 0 {
		f.Stale, f.Changed = true, int64(len(changed))
		f.problem(1, ruleStale, llmstxt.SeverityWarning, "generated again, the file differs in %s: %s",
			words.Count(f.Changed, "line"), firstFew(changed))
	}
	return nil
}

// saidBy returns what a file says: its title, its summary, and its links regardless of their targets.
func saidBy(d *llmstxt.Txt) []string {
	texts := []string{d.Title, d.Summary}
	for _, s := range d.Sections {
		for _, l := range s.Links {
			texts = append(texts, s.Name+": "+l.Title+", "+path.Base(l.URL)+", "+l.Note)
		}
	}
	return texts
}

// generate returns a new llms.txt for the folder.
func (c *checker) generate(ctx context.Context, folder string) (text []byte, err error) {
	out, err := os.MkdirTemp("", "lastword-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(out)
	read := c.program.Source()
	job, err := generate.Job(generate.Input{Repository: folder, Out: out, Layout: generate.LayoutFlat, Options: llmstxt.Options{Full: llmstxt.FullNone}},
		generate.Config{Open: read.Open, Secrets: c.program.Secrets, Version: build.This().Exact()})
	if err != nil {
		return nil, err
	}
	system, err := actors.New(ctx, actors.Config{})
	if err != nil {
		return nil, err
	}
	defer system.Close(ctx)
	run, err := system.Start(ctx, job, actors.Options{})
	if err != nil {
		return nil, err
	}
	state, err := run.Wait(ctx)
	switch {
	case err != nil:
		return nil, err
	case state.Status != messages.Completed:
		return nil, messages.InvalidInput("--stale: the file cannot be generated again: %s", state.End.Error.Message)
	}
	return regular.Read(filepath.Join(out, "llms.txt"), regular.Large)
}

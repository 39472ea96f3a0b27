package llmstxt

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/rank"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/render"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/sanitize"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/tokens"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/lazyregexp"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// mostSecrets bounds the list of secrets in llms.json.
const mostSecrets = 1000

// Output is what the files contain about their making.
type Output struct {
	Tool Tool
	// Way is the relative path from the folder of the files to the repository, if that is on this machine.
	Way string
	// Model is the model that was asked. Degraded says that it failed, and Cause why.
	Model    string
	Degraded bool
	Cause    string
	// Clean returns a writer that removes what no file may contain. It may be nil.
	Clean func(io.Writer) io.WriteCloser
	// Counts returns numbers of tokens that [Files.Counts] has returned; it is called when they are needed. It may be nil.
	Counts func() []byte
}

// File is a file to write.
type File struct {
	Name string
	// Write writes the text and checks it. A text with an error must not get the file's name.
	Write func(w io.Writer) (Written, error)
}

// Written describes a file that was written.
type Written struct {
	Artifact
	// Dropped lists the files that the budget had no room for.
	Dropped []string
}

// Files are the output files of a repository. Their Write functions may run concurrently; mu guards what is below it.
type Files struct {
	// List begins with llms.txt. It ends with llms.json, which describes the other files and must be written after
	// them. All others may be written concurrently.
	List []File

	ctx      context.Context
	index    *rank.Index // what llms.txt lists
	analysis *Analysis
	output   Output
	counts   *tokens.Counts
	document Document
	over     []string // links that llms.txt had no room for
	mu       sync.Mutex
	linked   map[string]int // tokens of files, by path
	written  map[string]Written
}

// Files returns the files to write. They read the repository while they are written, until ctx ends. Errors:
// limit_exceeded if a budget is too small; invalid_input if there are secrets and the options forbid them.
func (a *Analysis) Files(ctx context.Context, out Output, by Caller) (*Files, error) {
	f := &Files{ctx: ctx, index: evened(a.index), analysis: a, output: out, counts: &tokens.Counts{Earlier: out.Counts},
		linked: map[string]int{}, written: map[string]Written{}}
	if err := f.fit(); err != nil {
		return nil, err
	}
	f.document = f.draft()
	pack := f.pack(by)
	if err := f.refuseSecrets(ctx, pack); err != nil {
		return nil, err
	}
	o, files := a.options, a.files
	f.add(NameTxt, f.txt)
	if o.Full != FullNone {
		f.add(NameFull, func(w io.Writer) ([]string, error) { return render.Full(ctx, w, files, f.index, pack) })
	}
	if o.Ctx {
		f.add(NameCtx, func(w io.Writer) ([]string, error) {
			return render.Ctx(ctx, w, files, f.index, render.Format(o.Format), pack)
		})
	}
	if g := a.graph; g != nil { // the pages first, then the files that name them
		for _, p := range g.Pages() {
			f.add(p.Name, unbudgeted(p.Write))
		}
		f.add(NameForce, unbudgeted(g.Force))
		f.add(NameGraph, unbudgeted(g.JSON))
	}
	f.add(NameJSON, unbudgeted(func(w io.Writer) error { return f.Document().write(w) }))
	return f, nil
}

// txt writes llms.txt.
func (f *Files) txt(w io.Writer) (dropped []string, err error) {
	var b strings.Builder
	_ = render.Txt(&b, f.index) // writing to a builder never fails
	text, comment := b.String(), ""
	if !f.analysis.options.NoMemory {
		comment = f.analysis.own.comment(text, f.index)
	}
	_, err = io.WriteString(w, strings.TrimSuffix(text, "\n")+comment+"\n")
	return f.over, err
}

// unbudgeted adapts a function that renders a file without a budget.
func unbudgeted(render func(w io.Writer) error) func(w io.Writer) ([]string, error) {
	return func(w io.Writer) ([]string, error) { return nil, render(w) }
}

func (f *Files) add(name string, render func(w io.Writer) (dropped []string, err error)) {
	f.List = append(f.List, File{name, func(w io.Writer) (Written, error) { return f.write(w, name, render) }})
}

// write renders the file without secrets, checks it, and records the result.
func (f *Files) write(
	w io.Writer, name string, render func(w io.Writer) (dropped []string, err error),
) (said Written, err error) {
	sum, check := sha256.New(), CheckerOf(name)
	to, count := io.MultiWriter(w, sum, check), &tokens.Counter{Context: f.ctx, Counts: f.counts}
	if f.analysis.options.CountTokens {
		to = io.MultiWriter(to, count)
	}
	said.Name = name
	if clean := f.output.Clean; clean != nil {
		cleaner := clean(to)
		said.Dropped, err = render(cleaner)
		err = errors.Join(err, cleaner.Close())
	} else {
		said.Dropped, err = render(to)
	}
	if err != nil {
		return Written{}, err
	}
	if err := f.refuseDropped(name, said.Dropped); err != nil {
		return Written{}, err
	}
	if f.analysis.options.CountTokens {
		said.Tokens = count.Count()
	}
	said.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if err := check.Verdict(); err != nil {
		return Written{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.written[name] = said
	return said, nil
}

// refuseDropped returns an error if files had no room and the options forbid that.
func (f *Files) refuseDropped(name string, paths []string) error {
	if f.analysis.options.BudgetFail && len(paths) > 0 {
		return messages.LimitExceeded("%s is over the budget: there is no room for %s, such as %s; raise the budget, or have them left out",
			name, words.Count(len(paths), "file"), paths[0])
	}
	return nil
}

// fit drops the links that exceed the size budget. The other files link to the same files as llms.txt.
func (f *Files) fit() error {
	budget := f.analysis.options.SizeBudget
	if budget == 0 {
		return nil
	}
	room := budget
	if !f.analysis.options.NoMemory {
		room -= mostMemory
	}
	fitting, dropped, least := render.Fit(f.index, room)
	if least > budget {
		return messages.LimitExceeded("the size budget of %d bytes is too small: title, summary and facts take %d", budget, least)
	}
	for _, l := range dropped {
		f.over = append(f.over, l.Path)
	}
	f.index = fitting
	return f.refuseDropped(NameTxt, f.over)
}

// draft returns llms.json as far as it is known before the files are written.
func (f *Files) draft() Document {
	a, o, out := f.analysis, f.analysis.options, f.output
	d := newDocument(f.index, a.scan)
	if a.scan.Origin.Remote == "" || hasRelative(f.index) {
		d.Repository.Path = out.Way
	}
	d.Format, d.Tool = o.Format, out.Tool
	d.Options = DocumentOptions{Full: o.Full, Ctx: o.Ctx, LinkStyle: o.LinkStyle, Ref: o.Ref, BaseURL: o.LinkBase,
		SizeBudget: o.SizeBudget, TokenBudget: max(0, o.TokenBudget), Model: out.Model}
	d.Degraded, d.Cause = out.Degraded, out.Cause
	return d
}

// hasRelative reports whether links of the index are relative paths.
func hasRelative(index *rank.Index) bool {
	return slices.ContainsFunc(index.Sections, func(s rank.Section) bool {
		return slices.ContainsFunc(s.Links, func(l rank.Link) bool { return !strings.Contains(l.URL, "://") })
	})
}

// Document returns llms.json with what is known about the files that were written so far.
func (f *Files) Document() Document {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.document
	for _, file := range f.List[:len(f.List)-1] {
		said, ok := f.written[file.Name]
		if !ok {
			continue
		}
		d.Artifacts = append(d.Artifacts, said.Artifact)
		for _, p := range said.Dropped {
			d.Dropped = append(d.Dropped, Dropped{said.Name, sanitize.Line(p)})
		}
	}
	found := f.analysis.Secrets()
	d.Secrets = found[:min(len(found), mostSecrets)]
	for _, s := range d.Sections {
		for i, l := range s.Links {
			s.Links[i].Tokens = f.linked[l.Path]
		}
	}
	return d
}

// Stats counts what the files contain.
func (f *Files) Stats() Stats { return f.analysis.stats(f.index) }

// Counts returns the numbers of tokens that were counted, for later runs; nil if nothing new was.
func (f *Files) Counts() []byte { return f.counts.Bytes() }

// pack returns what llms-full.txt and llms-ctx.txt contain, by the options. Linked keeps the tokens for llms.json.
func (f *Files) pack(by Caller) render.Pack {
	a, o := f.analysis, f.analysis.options
	pack := render.Pack{Bytes: o.SizeBudget, Tokens: max(0, o.TokenBudget), Go: by.Go,
		Counts: f.counts, Secrets: a.secrets, KeepSecrets: o.Secrets == SecretsKeep}
	if o.CountTokens {
		pack.Linked = func(path string, tokens int) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.linked[path] = tokens
		}
	}
	if o.Full == FullAll {
		included, excluded := rulesOf(o.Include), rulesOf(o.Exclude)
		pack.Rest = slices.DeleteFunc(byUse(a.scan.Files), func(p string) bool {
			return excluded.Name(p) || included != nil && !included.Name(p)
		})
		most := int(min(max(a.largest, 1<<20), 1<<29)) // largest file that was read
		pack.FileBytes = 3 * most                      // text that is not UTF-8 grows when it is converted
	}
	return pack
}

// byUse orders files by their value if the budget is too small: the product before examples and tests, documents
// before code, and shallow files before deep ones.
func byUse(files []scan.File) []string {
	kind := func(f scan.File) int {
		return slices.Index([]scan.Kind{scan.Document, scan.Manifest, scan.Source, scan.Config, scan.Other}, f.Kind)
	}
	return paths(stable.Sorted(slices.Values(files), func(a, b scan.File) int {
		return cmp.Or(int(a.Place)-int(b.Place), kind(a)-kind(b), strings.Count(a.Path, "/")-strings.Count(b.Path, "/"))
	}))
}

func paths(files []scan.File) []string {
	list := make([]string, len(files))
	for i, f := range files {
		list[i] = f.Path
	}
	return list
}

// refuseSecrets reads the files that will be packed. It fails if one has a secret and the options forbid that.
func (f *Files) refuseSecrets(ctx context.Context, pack render.Pack) error {
	a := f.analysis
	if a.options.Secrets != SecretsFail {
		return nil
	}
	if err := render.FindSecrets(ctx, a.files, f.index, pack); err != nil {
		return err
	}
	if found := a.Secrets(); len(found) > 0 {
		return messages.InvalidInput("%s found, such as %s; remove them, or have them redacted", words.Count(len(found), "secret"),
			found[0])
	}
	return nil
}

// existing lists the paths where the repository may have an llms.txt of its maintainers: the usual ones, and then files
// that a site publishes, the shallowest first. A package's own describes the package.
func (r *Repository) existing() []string {
	names := []string{NameTxt, "docs/" + NameTxt, "public/" + NameTxt, "static/" + NameTxt}
	var others []string
	for _, f := range r.scan.Files {
		if path.Base(f.Path) == NameTxt && f.Place != scan.Example && f.Place != scan.Test && published.MatchString(f.Path) && !slices.Contains(names, f.Path) {
			others = append(others, f.Path)
		}
	}
	stable.Sort(others, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	return append(names, others...)
}

var published = lazyregexp.New(`(^|/)(docs?|public|_?static|source|www|site|website)/llms\.txt$`)

// mostExisting bounds the size of an llms.txt that is read.
const mostExisting = 1 << 20

// keepExisting merges the repository's own llms.txt into the index. What its maintainers wrote takes precedence. A file
// without title or links is a page like others.
func (r *Repository) keepExisting(index *rank.Index, most int, by Caller) (*rank.Index, kept) {
	if r.options.Fresh {
		return index, kept{}
	}
	for _, name := range r.existing() {
		data, err := readAtMost(r.files, name, mostExisting)
		if err != nil || len(data) == 0 {
			continue
		}
		file := ownFile{Path: name, resolver: newResolver(index, name, paths(r.scan.Files))}
		text, code := cutMemory(strings.ReplaceAll(string(data), "\r\n", "\n"))
		if file.doc, _ = Parse(text); file.doc.Title == "" || prose.Instructs(file.doc.Title) || len(file.doc.Links()) == 0 {
			continue
		}
		if file.before = parseMemory(code); file.before == nil {
			file.before = memoryOf(DocumentOf(r.files, path.Join(path.Dir(name), NameJSON)), text)
		}
		own := file.kept(!r.options.NoMemory)
		index = own.without(index)
		if own.merged = file.before == nil || file.before.whole != digest(wholeSize, text); !own.merged {
			return index, own
		}
		tell(by.Info, "kept the order and the notes of "+name+"; --fresh ignores it")
		return mergeOwn(index, file, most), own
	}
	return index, kept{}
}

// DocumentOf reads an llms.json that was written earlier; nil if there is none.
func DocumentOf(files fs.FS, name string) *Document {
	const most = 64 << 20
	data, err := readAtMost(files, name, most)
	d := new(Document)
	if err != nil || json.Unmarshal(data, d) != nil || d.Schema != Schema {
		return nil
	}
	return d
}

// readAtMost returns the content of a regular file, or fs.ErrInvalid if the file has more than most bytes.
func readAtMost(files fs.FS, name string, most int64) ([]byte, error) {
	f, info, err := confined.Regular(files, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > most {
		return nil, fs.ErrInvalid
	}
	return io.ReadAll(io.LimitReader(f, most))
}

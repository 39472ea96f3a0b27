package checks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors/llmstxt"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/repository"
)

// checker holds the flags and results of check.
type checker struct {
	program    *host.Program
	repository string // "" means the file's own folder
	stale      bool
	compares   bool
	strict     bool
	links      bool
	json       bool
	allow      repository.Allow
	checkouts  checkouts
	report     checkReport
}

// checkReport is the output of check --json.
type checkReport struct {
	Files []*checkedFile `json:"files"`
}

// checkedFile is a file in the report, in the form of --json.
type checkedFile struct {
	Path     string         `json:"path"`
	Title    string         `json:"title"`
	Sections int            `json:"sections"`
	Links    int            `json:"links"`
	Commit   string         `json:"commit,omitempty"` // the commit that the links refer to
	Head     string         `json:"head,omitempty"`   // the commit that the repository is at
	Stale    bool           `json:"stale,omitempty"`
	Changed  int64          `json:"changed,omitempty"` // number of files changed since Commit
	Problems []checkProblem `json:"problems"`
}

// checkProblem is a problem in the report.
type checkProblem struct {
	Line     int              `json:"line"`
	Rule     llmstxt.Rule     `json:"rule"`
	Severity llmstxt.Severity `json:"severity"`
	Message  string           `json:"message"`
}

func (f *checkedFile) problem(line int, rule llmstxt.Rule, s llmstxt.Severity, format string, args ...any) {
	f.Problems = append(f.Problems, checkProblem{line, rule, s, fmt.Sprintf(format, args...)})
}

// Command returns the command check.
func Command(p *host.Program) *cobra.Command {
	c := checker{program: p}
	cmd := &cobra.Command{
		Use:  "check <file|folder|URL>",
		Args: exit.Takes(1, "needs one file, folder or URL", "for example: lastword check llms.txt"),
		RunE: c.run,
	}
	flags := cmd.Flags()
	flags.StringVar(&c.repository, "repository", "",
		"`folder` of the repository, for relative links and --stale (default: the file's)")
	flags.BoolVar(&c.stale, "stale", false, "exit with 10 if files changed since the file was generated")
	flags.BoolVar(&c.compares, "compare", false, "exit with 10 if a newly generated file would differ")
	flags.BoolVar(&c.links, "links", false, "also try the links over the network")
	flags.BoolVar(&c.strict, "strict", false, "also warn about text that only some programs fail to read")
	flags.BoolVar(&c.json, "json", false, "print the problems as one JSON document")
	flags.BoolVar(&c.allow.HTTP, "allow-http", false,
		"also read over http, which others can watch and change")
	flags.BoolVar(&c.allow.Private, "allow-private", false, "read from private addresses and this machine")
	settings.ByOperator(flags)
	return cmd
}

// run checks the files, prints the problems to stdout and the sums to stderr. Errors are worse than stale files, so
// their exit code wins.
func (c *checker) run(cmd *cobra.Command, args []string) error {
	err := c.material(cmd.Context(), args[0])
	if err := errors.Join(err, c.checkouts.close()); err != nil {
		return err
	}
	if err := c.print(cmd.OutOrStdout()); err != nil {
		return err
	}
	faults, warnings, stale := c.tally()
	fmt.Fprintf(cmd.ErrOrStderr(), "%s, %s, %s\n", words.Count(len(c.report.Files), "file"),
		words.Count(faults, "error"),
		words.Count(warnings, "warning"))
	switch {
	case faults > 0:
		return &exit.Error{Code: exit.Failed}
	case stale:
		return &exit.Error{Code: exit.Stale}
	}
	return nil
}

// tally counts the problems.
func (c *checker) tally() (faults, warnings int64, stale bool) {
	for _, f := range c.report.Files {
		stale = stale || f.Stale
		for _, p := range f.Problems {
			if p.Severity == llmstxt.SeverityError {
				faults++
			} else {
				warnings++
			}
		}
	}
	return faults, warnings, stale
}

// print writes the report, by line as compilers do, or as JSON.
func (c *checker) print(w io.Writer) error {
	if c.json {
		return terminal.PrintJSON(w, c.report)
	}
	var b strings.Builder
	for _, f := range c.report.Files {
		for _, p := range f.Problems {
			fmt.Fprintf(&b, "%s:%d: %s: %s (%s)\n", words.Printable(f.Path), p.Line, p.Severity,
				words.Printable(p.Message), p.Rule)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Rules beside the rules of the format.
const (
	ruleTarget  llmstxt.Rule = "link-target" // a relative link must lead to a file
	ruleSummary llmstxt.Rule = "no-summary"
	ruleLinks   llmstxt.Rule = "no-links"
)

// targets checks that relative links of a file in the folder lead somewhere. It checks nothing if the repository is not
// on this machine.
func (c *checker) targets(f *checkedFile, folder string, links []llmstxt.TxtLink) error {
	bases, err := c.bases(f.Path, folder)
	defer closeAll(bases)
	if err != nil {
		return err
	}
	for _, l := range links {
		if name, relative := target(l.URL); relative && len(bases) > 0 && !leads(bases, folder, name) {
			f.problem(l.Line, ruleTarget, llmstxt.SeverityError, "the link %q leads to nothing that is there", l.URL)
		}
	}
	return nil
}

// reach tries the links to other machines. A missing page is an error; an unclear answer is a warning.
func (c *checker) reach(ctx context.Context, f *checkedFile, links []llmstxt.TxtLink) {
	lines := map[string]int{}
	for _, l := range links {
		if url, _, _ := strings.Cut(l.URL, "#"); strings.Contains(url, "://") {
			lines[url] = cmp.Or(lines[url], l.Line)
		}
	}
	repository.Dead(ctx, slices.Sorted(maps.Keys(lines)), c.allow, func(url string, status int, err error) {
		severity := llmstxt.SeverityWarning
		if status == http.StatusNotFound || status == http.StatusGone {
			severity = llmstxt.SeverityError
		}
		f.problem(lines[url], ruleTarget, severity, "the link %q gives no page: %v", url, err)
	})
}

// base is a folder that relative links may lead into.
type base struct {
	*os.Root
	dir string // path without symbolic links
}

// bases returns the folders that links may lead into. There is none if the repository is not on this machine.
func (c *checker) bases(file, folder string) (bases []base, err error) {
	dirs := []string{c.repository}
	if folder != "" {
		named, fetched := namedRepository(file)
		if fetched && c.repository == "" {
			return nil, nil
		}
		dirs = append(dirs, folder, named, settings.RepositoryOf(folder))
	}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		root, err := regular.Root(dir)
		if err != nil && (dir == folder || dir == c.repository) {
			return bases, messages.InvalidInput("cannot read the folder %s: %v", dir, exit.Reason(err))
		}
		if err == nil {
			bases = append(bases, base{root, settings.Real(dir)})
		}
	}
	return bases, nil
}

// documentBeside reads the llms.json beside a file. It returns nil if there is none.
func documentBeside(file string) *llmstxt.Document {
	stem, ok := strings.CutSuffix(file, ".txt")
	if !ok {
		return nil
	}
	data, err := readFile(stem + ".json")
	d := new(llmstxt.Document)
	if err != nil || json.Unmarshal(data, d) != nil || d.Schema != llmstxt.Schema {
		return nil
	}
	return d
}

// namedRepository returns the local folder named by the llms.json beside a file. fetched says that the repository was
// fetched instead.
func namedRepository(file string) (dir string, fetched bool) {
	d := documentBeside(file)
	if d == nil {
		return "", false
	}
	way, err := url.PathUnescape(d.Repository.Path)
	if err != nil || way == "" {
		return "", err == nil
	}
	return filepath.Join(settings.Real(filepath.Dir(file)), filepath.FromSlash(way)), false
}

func closeAll(bases []base) {
	for _, b := range bases {
		b.Close()
	}
}

// target returns the path of a relative link. A link within the file itself leads to ".".
func target(link string) (name string, relative bool) {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "" || u.Host != "" {
		return "", false
	}
	return cmp.Or(strings.TrimPrefix(path.Clean(u.Path), "/"), "."), true
}

// leads reports whether the file exists. The name is relative to a base, or to the folder of the llms.txt if it leads
// into a base.
func leads(bases []base, folder, name string) bool {
	return slices.ContainsFunc(bases, func(b base) bool {
		_, err := b.Stat(filepath.FromSlash(name))
		if inside := below(b.dir, filepath.Join(settings.Real(folder), filepath.FromSlash(name))); err != nil &&
			inside != "" {
			_, err = b.Stat(filepath.FromSlash(inside))
		}
		return err == nil
	})
}

package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/secret"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

const (
	mostEntries = 500     // entries of a list
	mostMatches = 100     // lines that a search returns
	mostLine    = 300     // bytes shown of a line that matches
	mostFile    = 4 << 20 // bytes of a file that are read
	mostLines   = 400     // lines of a file, if the call names no number
	mostPattern = 1000    // instructions of a pattern that a search compiles
	mostPart    = 8 << 10 // bytes of a line that a pattern is tried on at a time
)

// Repository returns tools that list, read and search the files of a folder; make files with [confined.FS]. The tools
// skip hidden files and files that hold secrets, and redact secrets in other files.
func Repository(files fs.FS) []Tool {
	r := repository{files}
	about := func(name, description string) Tool {
		return Tool{Name: name, Description: description, Access: Read, Idempotent: true, Outside: true}
	}
	list := about("list_files", "Lists the files and folders in a folder of the repository.")
	read := about("read_file", "Reads lines of a text file of the repository.")
	search := about("search_files", "Finds the lines in the repository's text files that match a regular expression.")
	read.Sources, search.Sources = fileRead, filesFound
	return []Tool{Func(list, r.list), Func(read, r.read), Func(search, r.search)}
}

// fileRead returns the file that a call has read, for citations.
func fileRead(arguments json.RawMessage, _ string) []string {
	var in reading
	_ = json.Unmarshal(arguments, &in) // they fit, or the call would have failed
	name, _ := inside(in.Path)
	return []string{name}
}

var foundAt = regexp.MustCompile(`(?m)^(.+?):[0-9]+: `)

// filesFound returns the files in the result of a search, for citations.
func filesFound(_ json.RawMessage, result string) (files []string) {
	for _, m := range foundAt.FindAllStringSubmatch(result, -1) {
		files = append(files, m[1])
	}
	return slices.Compact(files)
}

// repository is the tools on a folder.
type repository struct{ files fs.FS }

// inside returns the name in the FS of a path as models write it.
func inside(name string) (string, error) {
	clean := path.Clean(strings.TrimLeft(name, "/"))
	return clean, confined.Name(clean)
}

// isShown reports whether the entry could be read.
func isShown(e fs.DirEntry) bool {
	return e.Name() == "." || e.Type()&fs.ModeSymlink == 0 && confined.Name(e.Name()) == nil
}

type listing struct {
	Path string `json:"path,omitempty" jsonschema:"the folder, such as src/lib; the whole repository if empty"`
}

// list is the tool list_files. It writes a line for each entry that could be read; a folder ends with a slash.
func (r repository) list(_ context.Context, in listing) (string, error) {
	folder, err := inside(in.Path)
	if err != nil {
		return "", err
	}
	entries, err := fs.ReadDir(r.files, folder)
	if err != nil {
		return "", missing(err, folder)
	}
	var out strings.Builder
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return !isShown(e) })
	for i, e := range entries {
		switch {
		case i == mostEntries:
			fmt.Fprintf(&out, "and %d more\n", len(entries)-i)
			return out.String(), nil
		case e.IsDir():
			out.WriteString(e.Name() + "/\n")
		default:
			out.WriteString(e.Name() + "\n")
		}
	}
	return out.String(), nil
}

type reading struct {
	Path string `json:"path" jsonschema:"the file, such as src/main.go"`
	From int    `json:"from,omitempty" jsonschema:"the first line, from 1"`
	Most int    `json:"most,omitempty" jsonschema:"how many lines; 400 if missing"`
}

// read is the tool read_file. Its text has whole lines; a last line says how many follow, and how to get them.
func (r repository) read(ctx context.Context, in reading) (string, error) {
	name, err := inside(in.Path)
	if err != nil {
		return "", err
	}
	data, err := r.text(ctx, name)
	if err != nil {
		return "", err
	}
	lines := bytes.SplitAfter(data, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	first, most := max(in.From, 1)-1, in.Most
	if most <= 0 {
		most = mostLines
	}
	most = min(most, len(lines))
	if first > 0 && first >= len(lines) {
		return "", messages.InvalidInput("%s has %d lines; use a smaller value for from", name, len(lines))
	}
	shown := bytes.Join(lines[first:min(len(lines), first+most)], nil)
	if rest := len(lines) - first - most; rest > 0 {
		return fmt.Sprintf("%s[%d more lines; go on with from %d]", shown, rest, first+most+1), nil
	}
	return string(shown), nil
}

// text returns the content of a text file, without secrets. Of a file over mostFile it returns the whole lines of the
// first mostFile bytes, and a line that says so.
func (r repository) text(ctx context.Context, name string) ([]byte, error) {
	f, _, err := confined.Regular(r.files, name)
	if err != nil {
		return nil, missing(err, name)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostFile+1))
	switch {
	case err != nil:
		return nil, err
	case secret.IsFile(name) || secret.InFile(name, data):
		return nil, messages.InvalidInput("%s holds secrets, which are for nobody here", name)
	case bytes.IndexByte(data[:min(len(data), 8<<10)], 0) >= 0:
		return nil, messages.InvalidInput("%s is not a text file", name)
	}
	cut := len(data) > mostFile
	if cut { // half a line could hold half a secret, which the redactor does not know
		data = data[:bytes.LastIndexByte(data[:mostFile], '\n')+1]
	}
	finder := secret.NewFinder()
	finder.Context = ctx
	if data = finder.Redact(data, nil); ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if cut {
		data = fmt.Appendf(data, "[the file goes on: only its first %d MiB are read]\n", mostFile>>20)
	}
	return data, nil
}

// missing turns the error of a name that is no file or folder into one that helps the model. It keeps other errors.
func missing(err error, name string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return messages.InvalidInput("there is no %s in the repository; list_files shows what there is", name)
	case messages.CodeOf(err) == "" && errors.Is(err, fs.ErrInvalid):
		return messages.InvalidInput("%s is not a file; list_files shows folders", name)
	}
	return err
}

type searching struct {
	Pattern string `json:"pattern" jsonschema:"a regular expression of Go or RE2; (?i) ignores case"`
	Path    string `json:"path,omitempty" jsonschema:"the folder or file to search; the whole repository if empty"`
}

// search reads every shown file below the path, and skips what cannot be read.
func (r repository) search(ctx context.Context, in searching) (string, error) {
	pattern, err := compile(in.Pattern)
	if err != nil {
		return "", messages.InvalidInput("the pattern is wrong: %v", err)
	}
	below, err := inside(in.Path)
	if err != nil {
		return "", err
	}
	if _, err := fs.Stat(r.files, below); err != nil {
		return "", missing(err, below)
	}
	var found matches
	err = fs.WalkDir(r.files, below, func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil || !e.IsDir() && !e.Type().IsRegular():
			return nil // continue with what can be read
		case e.IsDir() && !isShown(e):
			return fs.SkipDir
		case e.IsDir() || !isShown(e):
			return nil
		}
		data, err := r.text(ctx, name)
		if err == nil && !found.in(ctx, name, data, pattern) {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if found.count == 0 {
		return "nothing matches", nil
	}
	return found.String(), nil
}

// compile compiles a pattern that takes little time for each byte.
func compile(text string) (*regexp.Regexp, error) {
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(re.Simplify())
	if err == nil && len(program.Inst) > mostPattern {
		err = errors.New("it repeats too much; give a shorter one")
	}
	if err != nil {
		return nil, err
	}
	return regexp.Compile(text)
}

// isMatch reports whether a part of the line matches. A match can be interrupted only between the parts.
func isMatch(ctx context.Context, line []byte, pattern *regexp.Regexp) bool {
	for ; len(line) > mostPart && ctx.Err() == nil; line = line[mostPart:] {
		if pattern.Match(line[:mostPart]) {
			return true
		}
	}
	return ctx.Err() == nil && pattern.Match(line)
}

// matches collects the lines that a search finds.
type matches struct {
	strings.Builder
	count int
}

// in adds the matching lines of a file. It reports whether there is room for more.
func (m *matches) in(ctx context.Context, name string, data []byte, pattern *regexp.Regexp) bool {
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if line = bytes.TrimRight(line, "\r\n"); !isMatch(ctx, line, pattern) {
			continue
		}
		if m.count == mostMatches {
			fmt.Fprintf(m, "only the first %d lines are shown; narrow the pattern or the path\n", mostMatches)
			return false
		}
		m.count++
		fmt.Fprintf(m, "%s:%d: %s\n", name, number, words.Clip(string(line), mostLine))
	}
	return true
}

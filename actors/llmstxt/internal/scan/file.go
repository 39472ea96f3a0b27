package scan

import (
	"errors"
	"io"
	"io/fs"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/ignore"
	"github.com/seed889630bf/lastword/actors/llmstxt/internal/source/golang"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/secret"
)

// file keeps the named file, or leaves it out.
func (w *walker) file(d *folder, name string) {
	path := d.to(name)
	if secret.IsFile(path) {
		w.skip(Secret, path, false, 0)
		return
	}
	if len(w.repo.Files) >= w.limits.Files {
		w.skip(OverFiles, path, false, 0)
		return
	}
	if is("binary extension", extension(name)) {
		w.skip(Binary, path, false, 0)
		return
	}
	head, size, minified, err := w.open(d.files, d.in(name), path)
	if err != nil && size <= w.limits.FileBytes {
		w.skip(Unreadable, path, false, 0)
		return
	}
	text := sniff(head, size <= int64(len(head)))
	plain := text.decode(head, true)
	switch {
	case err != nil || w.limits.tooLarge(name, size): // archives do not keep large notebooks
		w.skip(TooLarge, path, false, size)
	case text == noText:
		w.skip(Binary, path, false, size)
	case secret.InFile(name, plain):
		w.skip(Secret, path, false, size)
	case w.bytes+size > w.limits.TotalBytes:
		w.skip(OverBytes, path, false, size)
	default:
		w.bytes += size
		f := d.describe(path, name, size, plain)
		if minified && f.Kind != Manifest && d.marks.generated.Match(path, false) != ignore.Keep {
			f.Place = Generated
		}
		w.repo.Files = append(w.repo.Files, f)
	}
}

// open returns the file's first bytes, valid until the next call, and its size. For a script or style sheet it also
// reports whether it contains minified code. Of a file over the limit it reads nothing.
func (w *walker) open(files fs.FS, name, path string) (head []byte, size int64, minified bool, err error) {
	f, info, err := confined.Regular(files, name)
	if err != nil {
		return nil, 0, false, err
	}
	defer f.Close()
	size = info.Size()
	if w.limits.tooLarge(path, size) {
		return nil, size, false, nil
	}
	n, err := readUpTo(f, w.head[:min(max(size, 0), HeadBytes)])
	if err != nil {
		return nil, size, false, err
	}
	return w.head[:n], size, holdsMinified(w.ctx, f, name, w.head[:n], size), nil
}

// readUpTo fills buf as far as the file goes, which may have shrunk.
func readUpTo(f io.Reader, buf []byte) (int, error) {
	n, err := io.ReadFull(f, buf)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// describe returns the File with this head. Attributes in .gitattributes say before its text whether it is generated.
func (d *folder) describe(path, name string, size int64, head []byte) File {
	language := languageOf(name, head)
	f := File{Path: path, Size: size, Language: language, Kind: kindOf(name, d.docs, language, head), Place: d.place}
	if isTestName(name, d.path == "") || !d.docs && is("test document", strings.ToLower(name)) {
		f.Place = Test
	}
	switch verdict := d.marks.generated.Match(path, false); {
	case path == name && isReadme(name): // nothing else is as informative, whoever wrote it
	case verdict == ignore.Leave, verdict == ignore.Silent && isGenerated(name, f.Kind, head):
		f.Place = Generated
	}
	if language == "Go" && (f.Place == Product || f.Place == Example) {
		f.Package, f.Imports = golang.Head(head)
	}
	return f
}

package archive

import (
	"cmp"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/internal/tree"
)

// keeper collects the entries of one archive. It belongs to the goroutine of [Read].
type keeper struct {
	budget
	files   tree.Tree
	top     string // the top folder of all entries so far
	mixed   bool   // entries have different top folders
	count   int    // files that are kept
	commit  string // the commit, if the archive names it
	skipped Skipped
}

// path returns the entry's clean path, or "" if its name is not safe. It counts the entry.
func (k *keeper) path(name string) (string, error) {
	if err := k.entry(); err != nil {
		return "", err
	}
	if len(name) > k.PathBytes {
		return "", messages.LimitExceeded("the archive holds a path of %d bytes; %d are the limit, which no flag changes",
			len(name), k.PathBytes)
	}
	if !isSafe(name) {
		k.skipped.Paths++
		return "", nil
	}
	clean := path.Clean(name)
	if strings.Count(clean, "/") > k.Depth {
		return "", messages.LimitExceeded("the archive holds a file below %d folders; --max-depth raises the limit of %d",
			strings.Count(clean, "/"), k.Depth)
	}
	return clean, k.newFolders(path.Dir(clean))
}

// newFolders counts the folders that an entry adds. A deep path may add many.
func (k *keeper) newFolders(dir string) error {
	for ; dir != "."; dir = path.Dir(dir) {
		if _, err := k.files.Lstat(dir); err == nil {
			return nil
		}
		if k.folders++; k.folders > k.Files {
			return messages.LimitExceeded("the archive holds more than %d folders; --max-files raises the limit", k.Files)
		}
	}
	return nil
}

// isSafe reports whether the name stays within the archive on every operating system.
func isSafe(name string) bool {
	if name == "" || name[0] == '/' || strings.ContainsAny(name, "\\\x00") || !utf8.ValidString(name) {
		return false
	}
	if len(name) > 1 && name[1] == ':' && (name[0]|0x20) >= 'a' && (name[0]|0x20) <= 'z' {
		return false
	}
	return path.Clean(name) != "." && !slices.Contains(strings.Split(name, "/"), "..")
}

func (k *keeper) file(name string, data []byte) {
	k.added(name, k.files.File(name, int64(len(data)), func() ([]byte, error) { return data, nil }))
}

// large adds a file without its content: reading it fails with limit_exceeded.
func (k *keeper) large(name string, size int64) {
	limit := k.FileBytes
	k.added(name, k.files.File(name, size, func() ([]byte, error) {
		return nil, messages.LimitExceeded("%q is larger than %d bytes and was not unpacked", name, limit)
	}))
}

// link adds a symbolic link. It does not check where the link leads.
func (k *keeper) link(name, target string) {
	if target == "" || len(target) > k.PathBytes || strings.Contains(target, "\x00") {
		k.skipped.Paths++
		return
	}
	k.added(name, k.files.Symlink(name, target))
}

// added counts the outcome of adding an entry. A safe name is refused only if it is taken.
func (k *keeper) added(name string, err error) {
	if err != nil {
		k.skipped.Duplicates++
		return
	}
	top, _, below := strings.Cut(name, "/")
	if k.count == 0 {
		k.top = top
	}
	k.mixed = k.mixed || !below || top != k.top
	k.count++
}

// stripped returns the files without the folder that contains all of them, and the name of that folder.
func (k *keeper) stripped() (top string, files fs.FS, err error) {
	if k.mixed || k.count == 0 {
		return "", &k.files, nil
	}
	files, err = fs.Sub(&k.files, k.top)
	return k.top, files, err
}

// setCommit takes the text as the commit if it looks like a hash. The first one wins.
func (k *keeper) setCommit(text string) {
	if k.commit == "" && (len(text) == 40 || len(text) == 64) && hash.MatchString(text) {
		k.commit = text
	}
}

// Limits bound the reading of an archive. Fields that are zero take their defaults. The context limits the time.
type Limits struct {
	WireBytes     int64 // size of the archive; default 256 MiB
	UnpackedBytes int64 // total unpacked size, including what is not kept; default 2 GiB
	FileBytes     int64 // size of one file; a larger one is listed without content; default 1 MiB
	Ratio         int   // unpacked bytes per transferred byte, from 16 MiB on; default 100
	Files         int   // number of files, and of folders; default 200,000
	Depth         int   // number of folders above a file; default 128
	PathBytes     int   // length of a path or of a link's target; default 4,096
}

// ratioFrom is the unpacked size from which on the ratio is checked. Small files that compress well do no harm.
const ratioFrom = 16 << 20

// withDefaults replaces the limits that are not set.
func (l Limits) withDefaults() Limits {
	return Limits{
		WireBytes:     cmp.Or(max(l.WireBytes, 0), 256<<20),
		UnpackedBytes: cmp.Or(max(l.UnpackedBytes, 0), 2<<30),
		FileBytes:     cmp.Or(max(l.FileBytes, 0), 1<<20),
		Ratio:         cmp.Or(max(l.Ratio, 0), 100),
		Files:         cmp.Or(max(l.Files, 0), 200_000),
		Depth:         cmp.Or(max(l.Depth, 0), 128),
		PathBytes:     cmp.Or(max(l.PathBytes, 0), 4096),
	}
}

// budget enforces the limits while an archive is unpacked.
type budget struct {
	Limits
	wire     *wire
	streamed int64 // bytes from the decompressor
	kept     int64 // bytes of files, including holes in sparse files
	entries  int   // entries other than folders
	folders  int   // folders that the paths of entries need
}

func (b *budget) keep(n int64) error {
	b.kept += n
	return b.check(b.kept)
}

// check refuses archives that unpack to too much, in total or compared with their size. Small files may have any ratio.
func (b *budget) check(n int64) error {
	if n > b.UnpackedBytes {
		return messages.LimitExceeded("the archive unpacks to more than %d bytes; --max-bytes raises the limit", b.UnpackedBytes)
	}
	if n > ratioFrom && n/int64(b.Ratio) > b.wire.done {
		return messages.LimitExceeded("the archive unpacks to more than %d times its size, as those do that are made to fill disks; "+
			"if you trust it, unpack it and name the folder (--max-bytes does not change this limit)", b.Ratio)
	}
	return nil
}

// entry counts an entry that is no folder.
func (b *budget) entry() error {
	b.entries++
	if b.entries > b.Files {
		return tooMany(b.Files)
	}
	return nil
}

func tooMany(files int) error {
	return messages.LimitExceeded("the archive holds more than %d files; --max-files raises the limit", files)
}

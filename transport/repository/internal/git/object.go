package git

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// entry is an entry of a tree. The zero entry stands for a missing one.
type entry struct {
	name string
	mode filemode.FileMode // one of the five that git writes today
	id   plumbing.Hash
}

// entries reads a tree: for each entry its mode, a space, its name, a zero byte and its hash. go-git's own type of a tree
// would link OpenPGP and the decoders of pictures.
func (l *lister) entries(id plumbing.Hash) (list []entry, err error) {
	rest, err := l.from.read(plumbing.TreeObject, id)
	for err == nil && len(rest) > 0 {
		mode, named, spaced := bytes.Cut(rest, []byte(" "))
		name, hashed, ended := bytes.Cut(named, []byte{0})
		bits, noMode := strconv.ParseUint(string(mode), 8, 32)
		e := entry{name: string(name), mode: canonical(bits)}
		if !spaced || !ended || noMode != nil || e.name == "" || copy(e.id[:], hashed) < len(e.id) {
			return nil, errors.New("a tree is malformed")
		}
		list, rest = append(list, e), hashed[len(e.id):]
	}
	return list, err
}

// canonical returns the mode that git writes today for one that an old version may have written.
func canonical(bits uint64) filemode.FileMode {
	switch bits & 0o170000 {
	case 0o040000:
		return filemode.Dir
	case 0o120000:
		return filemode.Symlink
	case 0o100000:
		if bits&0o111 != 0 {
			return filemode.Executable
		}
		return filemode.Regular
	}
	return filemode.Submodule
}

// treeOf returns the tree of a commit, which its first line names.
func (l *lister) treeOf(commit plumbing.Hash) (plumbing.Hash, error) {
	return first(l.from, plumbing.CommitObject, commit, "tree ")
}

// targetOf returns the object that a tag names in its first line.
func targetOf(from objects, tag plumbing.Hash) (plumbing.Hash, error) {
	return first(from, plumbing.TagObject, tag, "object ")
}

func first(from objects, kind plumbing.ObjectType, id plumbing.Hash, header string) (plumbing.Hash, error) {
	text, err := from.read(kind, id)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	named, found := bytes.CutPrefix(line, []byte(header))
	target, valid := commitID(string(named))
	if !found || !valid {
		return plumbing.ZeroHash, errors.New("a " + kind.String() + " is malformed")
	}
	return target, nil
}

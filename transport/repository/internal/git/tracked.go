package git

import (
	"errors"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Tracked reports which files of dir, and folders that hold them, the index of its work tree lists. is is nil if it lists
// none. lacked counts those that a sparse checkout leaves out.
func Tracked(dir string) (is func(name string) bool, lacked int, err error) {
	c, err := OpenCheckout(dir)
	if c == nil || err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	prefix, err := c.prefix(dir)
	if err != nil {
		return nil, 0, err
	}
	index, err := c.storage.Index()
	if err != nil {
		return nil, 0, err
	}
	if prefix != "" {
		prefix += "/"
	}
	known := make(map[string]bool, len(index.Entries))
	for _, e := range index.Entries {
		name, inside := strings.CutPrefix(e.Name, prefix)
		switch {
		case !inside || e.Mode == filemode.Submodule:
		case e.SkipWorktree:
			lacked++
		default:
			for ; name != "." && !known[name]; name = path.Dir(name) {
				known[name] = true
			}
		}
	}
	if len(known) == 0 {
		return nil, lacked, nil
	}
	return func(name string) bool { return known[name] }, lacked, nil
}

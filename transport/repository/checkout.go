package repository

import (
	"context"

	"github.com/seed889630bf/lastword/transport/repository/internal/git"
)

// Checkout is the work tree of a local Git repository. It is never written. It is for one goroutine at a time.
type Checkout struct {
	Top string // real path of the work tree
	git *git.Checkout
}

// OpenCheckout opens the work tree that contains the folder. It returns nil, without an error, if there is none.
func OpenCheckout(folder string) (*Checkout, error) {
	c, err := git.OpenCheckout(folder)
	if c == nil || err != nil {
		return nil, err
	}
	return &Checkout{c.Top, c}, nil
}

// Close frees what was opened.
func (c *Checkout) Close() error { return c.git.Close() }

// Commit returns the checked-out commit, and the path of the folder from the top of the work tree. commit is "" if the
// folder is not part of a commit.
func (c *Checkout) Commit(folder string) (commit, path string, err error) {
	o, err := c.git.Origin(folder)
	return o.Commit, o.Prefix, err
}

// Changes are the files that differ between two commits.
type Changes struct {
	Paths []string // from the top of the work tree, sorted; a renamed file has two
	More  bool     // there are more than Paths lists
	Gap   string   // why the commits cannot be compared, as a clause; usually ""
}

// Since compares the checked-out commit with another one.
func (c *Checkout) Since(ctx context.Context, commit string) (*Changes, error) {
	changes, err := c.git.Since(ctx, commit)
	return (*Changes)(changes), err
}

// Edited returns the paths that changed without a commit.
func (c *Checkout) Edited(ctx context.Context, paths []string) ([]string, error) {
	return c.git.Edited(ctx, paths)
}

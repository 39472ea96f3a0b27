package main

import (
	"context"
	"errors"

	"github.com/seed889630bf/lastword/transport/git"
)

// checkouts are the repositories that check asks, each opened once, and what they said. The zero value has none.
type checkouts struct {
	byTop map[string]*git.Checkout
	last  struct {
		of      *git.Checkout
		commit  string
		changes *git.Changes
	}
}

// open finds the work tree that the folder belongs to.
func (c *checkouts) open(folder string) (*git.Checkout, git.Origin, error) {
	top := repositoryOf(folder)
	repo := c.byTop[top]
	if repo == nil {
		var err error
		if repo, err = git.OpenCheckout(folder); err != nil {
			return nil, git.Origin{}, invalid("--stale: %v", err)
		}
		if repo == nil {
			return nil, git.Origin{}, noCommit(folder)
		}
		if c.byTop == nil {
			c.byTop = map[string]*git.Checkout{}
		}
		c.byTop[top] = repo
	}
	origin, err := repo.Origin(folder)
	switch {
	case err != nil:
		return nil, origin, invalid("--stale: %v", err)
	case origin.Commit == "":
		return nil, origin, noCommit(folder)
	}
	return repo, origin, nil
}

func noCommit(folder string) error {
	return invalid("--stale: %s is not part of a commit; name the folder of the repository with --repository", folder)
}

// since remembers the last answer: files of one run are pinned to one commit.
func (c *checkouts) since(ctx context.Context, repo *git.Checkout, commit string) (*git.Changes, error) {
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

package lmstxt

import (
	"context"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// copyNode copies the page of a node of a repository's graph.
func (d *door) copyNode(ctx context.Context, repo, node string, w io.Writer) error {
	if strings.ContainsAny(node, `/\`) {
		return messages.InvalidInput("no node has the id %s; repo.graph.json lists the ids", node)
	}
	dirs := folders(repo)
	err := d.copyPage(ctx, dirs, node, w)
	if messages.CodeOf(err) == messages.CodeNotFound {
		err = d.copyPage(ctx, d.graphsOf(ctx, dirs), node, w)
	}
	if messages.CodeOf(err) != messages.CodeNotFound {
		return err
	}
	return messages.Errorf(messages.CodeNotFound, "there is no page of the node %s of %s; generate the graph "+
		"first", node, repo)
}

// copyPage copies the node's page from the first of the folders that has it.
func (d *door) copyPage(ctx context.Context, dirs []string, node string, w io.Writer) error {
	for _, dir := range dirs {
		err := d.copyFile(ctx, place(dir, "nodes/"+node+".md"), w)
		if messages.CodeOf(err) != messages.CodeNotFound {
			return err
		}
	}
	return messages.Errorf(messages.CodeNotFound, "no page")
}

// graphsOf returns the folders below the caller's folder that contain a graph and have one of the names.
func (d *door) graphsOf(ctx context.Context, names []string) (dirs []string) {
	folder, err := d.files(ctx)
	if err != nil {
		return nil
	}
	defer folder.Close()
	_ = fs.WalkDir(folder, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || path.Base(name) != graphName || !isGraph(name) {
			return ctx.Err() // ignore what cannot be read
		}
		dir := path.Dir(path.Dir(name))
		if slices.ContainsFunc(names, func(n string) bool { return strings.HasSuffix(dir, "/"+n) }) {
			dirs = append(dirs, dir)
		}
		return ctx.Err()
	})
	return dirs
}

// folders returns the folders that a repository id may stand for: the folders of these tools, and of generate for a
// repository on GitHub. Both owner and name may contain the separator, so there may be several.
func folders(repo string) []string {
	all := []string{repo}
	if !strings.Contains(repo, "/") {
		all = splits(repo)
	}
	for _, dir := range all {
		all = append(all, "github.com/"+dir)
	}
	return all
}

// splits returns all ways to split an id into owner and name.
func splits(repo string) (all []string) {
	for _, sign := range []string{"--", "__"} {
		for i := 1; i < len(repo)-len(sign); i++ {
			if rest, ok := strings.CutPrefix(repo[i:], sign); ok {
				all = append(all, repo[:i]+"/"+rest)
			}
		}
	}
	return all
}

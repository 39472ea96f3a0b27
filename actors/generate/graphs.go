package generate

import (
	"context"
	"os"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/atomicfile"
	"github.com/seed889630bf/lastword/actors/llmstxt/graph"
	"github.com/seed889630bf/lastword/messages"
)

// The names of the graph's artifacts, beside nodes/<id>.md.
const (
	nameGraph = "repo.graph.json"
	nameForce = "repo.force.json"
)

// The folders of the graph, below that of the repository.
const (
	graphFolder = "graph"
	pagesFolder = "graph/nodes"
)

func graphCheckOf(name string) *checker {
	switch {
	case name == nameGraph:
		return judged(graph.Check)
	case name == nameForce:
		return judged(graph.CheckForce)
	case graph.IsPage(name):
		return judged(graph.CheckPage)
	}
	return nil
}

// relate builds the graph of packages.
func (g *generation) relate(ctx context.Context, t *actors.TaskContext) (err error) {
	g.graph, err = graph.Build(ctx, g.files, g.repo, g.index.Survey, graph.Options{Title: g.index.Title, Go: t.Go,
		Progress: func(done, total int) { t.Progress(int64(done), int64(total), "packages") }})
	if err != nil {
		return err
	}
	for _, fact := range g.graph.Facts {
		t.Log(messages.LogWarn, nameGraph+": "+fact)
	}
	return nil
}

// graphArtifacts lists the pages first, then the files that name them.
func (g *generation) graphArtifacts() []artifact {
	if g.graph == nil {
		return nil
	}
	var files []artifact
	for _, p := range g.graph.Pages() {
		files = append(files, artifact{name: p.Name, render: p.Write})
	}
	return append(files, artifact{name: nameForce, render: g.graph.Force},
		artifact{name: nameGraph, render: g.graph.JSON})
}

// prepareGraph makes the graph's folders, and removes and counts the temporary files of unfinished runs.
func (g *generation) prepareGraph(out *os.Root) (swept int, err error) {
	if !g.input.Graph {
		return 0, nil
	}
	if err := makeFolder(out, pagesFolder); err != nil {
		return 0, err
	}
	return atomicfile.Sweep(out, graphFolder, "repo.") + atomicfile.Sweep(out, pagesFolder, ""), nil
}

package mcp

import (
	"context"
	"slices"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/gate"
)

// Changes say of resources beside run:// how they change with runs. What is nil has none.
type Changes struct {
	// Artifact is the one artifact of one run that the resource is; ok is false for a URI of others.
	Artifact func(uri string) (run messages.RunID, name string, ok bool)
	// Files are those below the caller's folder that the resource may be, whichever of the caller's runs writes them; none
	// for a URI of others.
	Files func(uri string) []string
	// File is the file, below its principal's folder, that the run wrote as the artifact; "" for none.
	File func(run messages.State, artifact messages.Artifact) string
}

// AddChanges has those who subscribed to the resources told of their changes, and resources/list without the artifacts
// whose File a later run has written.
func (s *Server) AddChanges(c Changes) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.changes = append(s.hub.changes, c)
}

// filesOf are the topics of a resource that is a file of whoever calls in the context.
func (h *hub) filesOf(ctx context.Context, uri string) []topic {
	h.mu.Lock()
	defer h.mu.Unlock()
	var topics []topic
	for _, c := range h.changes {
		if c.Files == nil {
			continue
		}
		for _, path := range c.Files(uri) {
			topics = append(topics, topic{uri: uri, source: source{owner: gate.From(ctx).Name, path: path}})
		}
	}
	return topics
}

// count keeps how many topics of an owner are files. Under mu.
func (h *hub) count(t topic, n int) {
	if t.path == "" {
		return
	}
	if h.readers[t.owner] += n; h.readers[t.owner] == 0 {
		delete(h.readers, t.owner)
	}
}

// started has a run watched that was started just now, if somebody subscribed to files that it may write. What it has
// written by then is told: nobody else tells of it.
func (h *hub) started(run messages.State) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if run.Queued == nil || h.readers[run.Queued.Principal] == 0 {
		return
	}
	for _, a := range run.Artifacts {
		h.wrote(run, a)
	}
	h.attend(run)
}

// wrote marks the file that the run has written. Under mu.
func (h *hub) wrote(run messages.State, artifact messages.Artifact) {
	if h.readers[run.Queued.Principal] == 0 {
		return
	}
	for _, path := range h.pathsOf(run, artifact) {
		from := source{owner: run.Queued.Principal, path: path}
		for t, subscribers := range h.interest[from] {
			markAll(subscribers, t)
		}
	}
}

// pathsOf are the files that the run wrote as the artifact. Under mu.
func (h *hub) pathsOf(run messages.State, artifact messages.Artifact) []string {
	var paths []string
	for _, c := range h.changes {
		if c.File == nil {
			continue
		}
		if path := c.File(run, artifact); path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// untaken are the run's artifacts whose files are not taken; from now on they are.
func (h *hub) untaken(run messages.State, taken map[string]bool) []messages.Artifact {
	h.mu.Lock()
	defer h.mu.Unlock()
	var own []messages.Artifact
	var files []string
	for _, a := range run.Artifacts {
		paths := h.pathsOf(run, a)
		if !slices.ContainsFunc(paths, func(path string) bool { return taken[path] }) {
			own = append(own, a)
		}
		files = append(files, paths...)
	}
	for _, path := range files {
		taken[path] = true
	}
	return own
}

// hearFiles subscribes to the topics of a file, all or none. Runs that begin later are for Start to tell of: what is
// not listed here is not begun.
func (s *Server) hearFiles(ctx context.Context, sub *subscriber, topics []topic) error {
	for _, t := range topics {
		if err := s.hub.add(sub, t, messages.State{}); err != nil {
			s.forgetFiles(sub, topics)
			return err
		}
	}
	begun := []messages.Status{messages.Pending, messages.Processing}
	active, err := s.Runs(ctx, messages.Query{Status: begun, Limit: 1000})
	if err != nil {
		s.forgetFiles(sub, topics)
		return err
	}
	for _, run := range active {
		if state, err := s.Run(ctx, run.RunID); err == nil {
			s.hub.started(state)
		}
	}
	return nil
}

func (s *Server) forgetFiles(sub *subscriber, topics []topic) {
	for _, t := range topics {
		s.hub.remove(sub, t)
	}
}

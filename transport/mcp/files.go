package mcp

import (
	"context"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/gate"
)

// Files are resources that any run of the same principal may write: those of the files below its folder.
type Files struct {
	// Paths are the files that the URI may be; none for a URI of others.
	Paths func(uri string) []string
	// Path is the file that the run has written as the artifact; "" for none.
	Path func(run messages.State, artifact messages.Artifact) string
}

// Files has the resources change with the runs that their principal starts here.
func (s *Server) Files(f Files) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.files = append(s.hub.files, f)
}

// filesOf are the topics of a resource that is a file of whoever calls in the context.
func (h *hub) filesOf(ctx context.Context, uri string) []topic {
	h.mu.Lock()
	defer h.mu.Unlock()
	var topics []topic
	for _, f := range h.files {
		for _, path := range f.Paths(uri) {
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

// started has a run watched that was started just now, if somebody subscribed to files that it may write.
func (h *hub) started(run messages.State) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if run.Queued != nil && h.readers[run.Queued.Principal] > 0 {
		h.attend(run)
	}
}

// wrote marks the file that the run has written. Under mu.
func (h *hub) wrote(run messages.State, artifact messages.Artifact) {
	if h.readers[run.Queued.Principal] == 0 {
		return
	}
	for _, f := range h.files {
		from := source{owner: run.Queued.Principal, path: f.Path(run, artifact)}
		for t, subscribers := range h.interest[from] {
			markAll(subscribers, t)
		}
	}
}

// hearFiles subscribes to the topics of a file, all or none. Runs that begin later are for Start to tell of: whatever is not listed
// here is not begun.
func (s *Server) hearFiles(ctx context.Context, sub *subscriber, topics []topic) error {
	for _, t := range topics {
		if err := s.hub.add(sub, t, messages.State{}); err != nil {
			s.forgetFiles(sub, topics)
			return err
		}
	}
	active, err := s.Runs(ctx, messages.Query{Status: []messages.Status{messages.Pending, messages.Processing}, Limit: 1000})
	if err != nil {
		s.forgetFiles(sub, topics)
		return err
	}
	for _, run := range active {
		if state, err := s.owned(ctx, run.RunID); err == nil {
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

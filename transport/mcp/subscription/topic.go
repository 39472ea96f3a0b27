package subscription

import (
	"slices"

	"github.com/seed889630bf/lastword/messages"
)

// topic is what a client can subscribe to: a resource, a task, or a list.
type topic struct {
	// method is the notification of a list that changed.
	method string
	// uri is the resource's.
	uri string
	// run makes the resource change, or is the task where there is no uri.
	run messages.RunID
	// path is the file that the resource is, whichever of the caller's runs writes it.
	path string
	// artifact is the one of the run that is the resource; "" for what every milestone changes.
	artifact string
}

// changes reports whether the event, a milestone of the topic's run, may change what the topic shows.
func (t topic) changes(e messages.Event) bool {
	switch b := e.Body.(type) {
	case messages.ArtifactWritten:
		return t.uri != "" && (t.artifact == "" || t.artifact == b.Name)
	case messages.ArtifactPartial:
		return t.uri != "" && (t.artifact == "" || t.artifact == b.Name)
	case messages.InputRequired, messages.InputReceived, messages.RunCanceling, messages.RunRecovered:
		return t.artifact == ""
	}
	return e.IsTerminal() || t.uri != "" && t.artifact == ""
}

// Changes say how resources change with runs. What is nil has none.
type Changes struct {
	// Artifact is the run and the artifact of it that the resource is: "" for the whole run, and no run for a URI that
	// names nothing; ok is false for a URI of others.
	Artifact func(uri string) (run messages.RunID, name string, ok bool)
	// Files are those below the caller's folder that the resource may be, whichever of the caller's runs writes them;
	// none for a URI of others.
	Files func(uri string) []string
	// File is the file, below its principal's folder, that the run wrote as the artifact; "" for none.
	File func(run messages.State, artifact messages.Artifact) string
}

// Add notifies subscribers of the resources when runs change them. It is called before there are any.
func (h *Hub) Add(c Changes) { h.changes = append(h.changes, c) }

// topicOf returns the topic of a resource; false for a URI that names nothing of a run.
func (h *Hub) topicOf(uri string) (topic, bool) {
	for _, c := range h.changes {
		if c.Artifact == nil {
			continue
		}
		if run, artifact, ok := c.Artifact(uri); ok {
			return topic{uri: uri, run: run, artifact: artifact}, run != ""
		}
	}
	return topic{uri: uri}, true
}

// filesOf are the topics of a resource that is a file below the caller's folder.
func (h *Hub) filesOf(uri string) []topic {
	var topics []topic
	for _, c := range h.changes {
		if c.Files == nil {
			continue
		}
		for _, path := range c.Files(uri) {
			topics = append(topics, topic{uri: uri, path: path})
		}
	}
	return topics
}

// pathsOf are the files that the run wrote as the artifact.
func (h *Hub) pathsOf(run messages.State, artifact messages.Artifact) []string {
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

// Newest returns the run's artifacts whose files are not among those that later runs wrote, and adds its own to
// these.
func (h *Hub) Newest(run messages.State, written map[string]bool) []messages.Artifact {
	var own []messages.Artifact
	var files []string
	for _, a := range run.Artifacts {
		paths := h.pathsOf(run, a)
		if !slices.ContainsFunc(paths, func(path string) bool { return written[path] }) {
			own = append(own, a)
		}
		files = append(files, paths...)
	}
	for _, path := range files {
		written[path] = true
	}
	return own
}

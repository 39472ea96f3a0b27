package subscription

import (
	"slices"

	"github.com/seed889630bf/lastword/messages"
)

// topic is what a client can subscribe to: a resource, a task, or a list. Which fields are set says which of them it
// is.
type topic struct {
	// method is the notification for a list.
	method string
	// uri is the URI of a resource.
	uri string
	// run is the run that changes the resource, or the run that is the task if uri is "".
	run messages.RunID
	// path is the file that the resource shows, whichever of the caller's runs writes it.
	path string
	// artifact is the artifact of the run that the resource shows; "" if every milestone changes the resource.
	artifact string
}

// changes reports whether a milestone of the topic's run may change what the topic shows.
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

// Changes say how runs change resources. Functions that are nil change none.
type Changes struct {
	// Artifact returns which run the resource shows, and which of its artifacts. name is "" for the whole run.
	// run is "" for a URI that names nothing. ok is false for a URI of another kind.
	Artifact func(uri string) (run messages.RunID, name string, ok bool)
	// Files returns the paths below the caller's folder that the resource may show, whichever of the caller's runs
	// writes them. It returns nil for a URI of another kind.
	Files func(uri string) []string
	// File returns the path, below its principal's folder, of the file that the run wrote as the artifact; "" if there
	// is none.
	File func(run messages.State, artifact messages.Artifact) string
}

// Add notifies subscribers of resources when runs change them. It must be called before anybody subscribes.
func (h *Hub) Add(c Changes) { h.changes = append(h.changes, c) }

// topicOf returns the topic of a resource. ok is false for a URI that should name a run but does not.
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

// filesOf returns the topics of a resource that shows a file below the caller's folder.
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

// pathsOf returns the paths of the file that the run wrote as the artifact.
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

// Newest returns the run's artifacts whose files no later run has overwritten. written holds the files of later runs;
// Newest adds the run's own.
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

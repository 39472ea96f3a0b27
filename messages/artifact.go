package messages

import (
	"cmp"
	"path"
	"strings"
)

// Artifact is a file that a run wrote.
type Artifact struct {
	// Name is the job's name for it, for example llms.txt. It is unique in its run.
	Name string `json:"name"`
	// Path is its place: slash-separated, relative to the job's output folder.
	Path string `json:"path,omitempty"`
	// Bytes is its size.
	Bytes int64 `json:"bytes"`
	// SHA256 is the lower-case hexadecimal digest of its content.
	SHA256 string `json:"sha256"`
	// Partial says that the file holds only the first part of the whole.
	Partial bool `json:"partial"`
}

// ArtifactPartial says that a readable first part of an artifact exists.
type ArtifactPartial struct {
	Artifact
	Task string `json:"task,omitempty"`
}

func (ArtifactPartial) info() *KindInfo { return artifactPartial }

var artifactPartial = artifactRow[ArtifactPartial](KindArtifactPartial, true, "A readable first part of an artifact exists.")

// ArtifactWritten says that an artifact is on disk, synced, under its final name.
type ArtifactWritten struct {
	Artifact
	Task string `json:"task,omitempty"`
}

func (ArtifactWritten) info() *KindInfo { return artifactWritten }

var artifactWritten = artifactRow[ArtifactWritten](KindArtifactWritten, false, "An artifact is on disk, synced, under its final name.")

// artifactRow makes the row of a kind about artifacts.
func artifactRow[B interface {
	ArtifactPartial | ArtifactWritten
	Body
}](kind Kind, first bool, says string) *KindInfo {
	return row(*new(B), kind, "artifacts", says, traits{
		taskSays: true,
		legal: with(func(b B, _ *Fold) *Refusal {
			a := ArtifactWritten(b)
			bad := a.Name == "" || a.Bytes < 0 || first && !a.Partial
			return when(bad, RuleArtifact, "artifact %q has no name, no size, or the wrong kind", a.Name)
		}),
		apply: to(func(b B, f *Fold) { f.write(ArtifactWritten(b).Artifact, ArtifactWritten(b).Task) }),
	})
}

// write adds the artifact to the State, or replaces the one of that name.
func (f *Fold) write(a Artifact, task string) {
	i := f.artifact(a.Name)
	f.artifacts.put(&f.s.Artifacts, i, a)
	if i < 0 {
		i = len(f.s.ArtifactTasks)
		f.s.ArtifactTasks = append(f.s.ArtifactTasks, "")
	}
	if f.s.ArtifactTasks[i] != task {
		f.artifactTasks()[i] = task
		f.noteArtifact(task, a.Name)
	}
}

// artifactTasks returns the State's list of tasks, in memory that may be changed.
func (f *Fold) artifactTasks() []string {
	f.ownArtifactTasks = unshared(&f.s.ArtifactTasks, f.ownArtifactTasks)
	return f.s.ArtifactTasks
}

var mediaTypes = map[string]string{
	".txt": "text/plain", ".log": "text/plain", ".md": "text/markdown", ".markdown": "text/markdown", ".csv": "text/csv",
	".html": "text/html", ".htm": "text/html", ".json": "application/json", ".jsonl": "application/x-ndjson",
	".ndjson": "application/x-ndjson", ".yaml": "application/yaml", ".yml": "application/yaml", ".xml": "application/xml",
	".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".pdf": "application/pdf",
}

// MediaType returns the media type of a file, by the extension of its name.
func MediaType(name string) string {
	return cmp.Or(mediaTypes[strings.ToLower(path.Ext(name))], "application/octet-stream")
}

// IsText reports whether files of the media type are texts.
func IsText(mediaType string) bool {
	switch mediaType {
	case "application/json", "application/x-ndjson", "application/yaml", "application/xml", "image/svg+xml":
		return true
	}
	return strings.HasPrefix(mediaType, "text/")
}

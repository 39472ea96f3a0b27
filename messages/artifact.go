package messages

// Artifact is a file that a run made.
type Artifact struct {
	// Name is what the job calls it, for example llms.txt; unique in its run.
	Name string `json:"name"`
	// Path is where it is, slash-separated, relative to the job's output folder.
	Path string `json:"path,omitempty"`
	// Bytes is its size.
	Bytes int64 `json:"bytes"`
	// SHA256 is the lower-case hexadecimal digest of its content.
	SHA256 string `json:"sha256"`
	// Partial says that it is a first part of what it should have been.
	Partial bool `json:"partial"`
}

func (a Artifact) size() int { return len(a.Name) + len(a.Path) + len(a.SHA256) }

// ArtifactPartial says that a readable first part of an artifact exists.
type ArtifactPartial struct {
	Artifact
	Task string `json:"task,omitempty"`
}

func (ArtifactPartial) Kind() Kind      { return KindArtifactPartial }
func (ArtifactPartial) info() *KindInfo { return artifactPartial }

var artifactPartial = row[ArtifactPartial]{
	group: "artifacts", says: "A readable first part of an artifact exists.", taskSays: true,
	size:  func(b ArtifactPartial) int { return len(b.Task) + b.Artifact.size() },
	own:   func(b ArtifactPartial, task string) Body { b.Task = task; return b },
	legal: func(b ArtifactPartial, _ *Fold) *broken { return b.legal(true) },
	apply: func(b ArtifactPartial, f *Fold) { f.write(b.Artifact, b.Task) },
}.info()

// ArtifactWritten says that an artifact is on disk, synced, under its final name.
type ArtifactWritten struct {
	Artifact
	Task string `json:"task,omitempty"`
}

func (ArtifactWritten) Kind() Kind      { return KindArtifactWritten }
func (ArtifactWritten) info() *KindInfo { return artifactWritten }

var artifactWritten = row[ArtifactWritten]{
	group: "artifacts", says: "An artifact is on disk, synced, under its final name.", taskSays: true,
	size:  func(b ArtifactWritten) int { return len(b.Task) + b.Artifact.size() },
	own:   func(b ArtifactWritten, task string) Body { b.Task = task; return b },
	legal: func(b ArtifactWritten, _ *Fold) *broken { return b.legal(b.Partial) },
	apply: func(b ArtifactWritten, f *Fold) { f.write(b.Artifact, b.Task) },
}.info()

func (a Artifact) legal(partial bool) *broken {
	if a.Name == "" || a.Bytes < 0 || a.Partial != partial {
		return breaks(RuleArtifact, "artifact %q has no name, no size, or the wrong kind", a.Name)
	}
	return nil
}

func (f *Fold) write(a Artifact, task string) {
	i := f.artifact(a.Name)
	if i < 0 {
		i = len(f.s.Artifacts)
		f.s.ArtifactTasks = append(f.s.ArtifactTasks, "")
	}
	f.artifacts.put(&f.s.Artifacts, i, a)
	if f.s.ArtifactTasks[i] != task {
		f.writers()[i] = task
		f.writes(task, a.Name)
	}
}

// writers returns the tasks of the artifacts in memory that may be changed.
func (f *Fold) writers() []string {
	f.ownWriters = unshared(&f.s.ArtifactTasks, f.ownWriters)
	return f.s.ArtifactTasks
}

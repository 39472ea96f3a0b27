// Package artifact has the jobs for steps of a plan that read and write files. [Read] returns the text of an artifact
// of a run, and [Write] writes a text as an artifact.
package artifact

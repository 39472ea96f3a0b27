// Package artifact has the jobs of steps that read and write files: [Read] gives the text of an artifact that a run
// wrote, and [Write] writes a text as an artifact.
package artifact

// Package settings sets the flags that the command line does not set: from the environment, from the file of --config,
// from .lastword.yaml in the current folder, and from the user's file.
package settings

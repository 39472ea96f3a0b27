// Package settings gives flags the values that the command line leaves open: from the environment, from the file of
// --config, from .lastword.yaml in the current folder, and from the file of the user.
package settings

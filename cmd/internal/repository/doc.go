// Package repository fills the options of transport/repository in from flags and from the user's environment, and
// watches a folder for changes.
package repository

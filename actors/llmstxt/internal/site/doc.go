// Package site reads documentation sites as their frameworks read them, each into one tree. It executes nothing of the
// repository: package literal reads configuration that is written as a program.
package site

// Package doctor checks that a machine has what the commands need: writable folders, free disk space, certificates, a
// working proxy and a correct clock. It also checks a running server. It changes nothing but files that it makes for a
// check and removes again.
package doctor

// Package shell reads the scripts of POSIX shells and of those that grew from them.
package shell

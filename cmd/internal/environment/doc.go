// Package environment holds the environment variables of a run of the program, and the folders that they name.
package environment

// Package checks is the command check: it reads llms.txt files and tells what is wrong with them, or stale.
package checks

// Package terminaltest stands in for a terminal in tests.
package terminaltest

// Package terminaltest provides a stand-in for a terminal in tests.
package terminaltest

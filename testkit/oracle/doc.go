// Package oracle compares lastword with other implementations, whose libraries only its tests need.
package oracle

// Package oracle compares lastword with other implementations, and the samples of docs/operations with the types of their
// programs, whose libraries only its tests need.
package oracle

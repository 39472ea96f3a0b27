// Package parallel computes things concurrently, and yields them in order.
package parallel

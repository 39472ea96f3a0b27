// Package server serves HTTP: it bounds connections and the time that requests take, and drains what is under way at
// the end. A long stream ends when auth.Draining is closed.
package server

// Package store opens the journal that a command's flags name: in memory, in an SQLite directory, or in NATS. The build
// tags nosqlite and nonats leave out a store.
package store

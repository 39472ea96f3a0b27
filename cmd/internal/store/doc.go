// Package store opens the journal that a command's flags name: memory, an SQLite directory, or NATS. The build tags
// nosqlite and nonats leave a store out.
package store

// Package git tells where a local folder comes from.
//
// [Read] finds the repository that a folder belongs to, its checked-out commit
// and its remote, without running git, its hooks or its credential helpers, and
// without touching the network.
package git

// Package scan reads a repository's files and says what is in it.
//
// [Read] walks an [fs.FS] once and returns a [Repository]: every text file worth knowing with its size, language,
// [Kind] (what it is) and [Place] (where it stands), sorted by path, and a count of everything that was left out with
// the reason. Only the first 8 KiB of a file are looked at, so memory grows with the number of files alone. A [Reader]
// gives the contents later, through the same file system. With a [Memory], which holds a few megabytes, the scan and
// all readers share one record of a file: it is read, and searched for what must not be shown, once.
//
// No symbolic link is followed. What .gitignore or .lastwordignore names, vendored folders, binary files and what
// exceeds the [Limits] are left out; generated files, tests and test data stay, marked, so that a ranking can put
// them last. A .lastwordignore has git's syntax, counts from its folder down, and decides before .gitignore and
// before what is known of vendored folders: with "!" it brings back what these leave out, unless a folder above it is
// left out. Nothing brings back a file that is there to hold secrets: .env, a private key, the credentials of a tool.
// Of .gitattributes the marks linguist-generated and linguist-vendored are heeded.
//
// Text is UTF-8, also with a few bytes that are not; UTF-16 with a byte order mark; or Windows-1252, of which Latin-1
// is a part. A [Reader] hands out UTF-8 alone. All else is binary.
//
// The same folder gives the same Repository, whatever the order in which the file system lists it. [ParseOrigin] is
// the pure reading of a git remote.
package scan

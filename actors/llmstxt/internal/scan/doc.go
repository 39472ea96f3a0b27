// Package scan lists and classifies the files of a repository.
//
// [Read] walks an [fs.FS] once and returns a [Repository]: every relevant text file with its size, language, [Kind]
// (what it is) and [Place] (what it is for), sorted by path, and a count of everything that was left out, with the
// reason. It reads only the first 8 KiB of a file, so memory grows only with the number of files. A [Reader] reads
// the contents later, through the same file system.
//
// No symbolic link is followed. Files named by .gitignore or .lastwordignore, vendored folders, binary files and
// everything over the [Limits] are left out. Generated files, tests and test data stay, marked, so that a ranking can
// put them last. A .lastwordignore has git's syntax and applies below its folder. It decides before .gitignore and
// before the rules for vendored folders: "!" brings back what these exclude, unless a folder above is excluded.
// Nothing brings back a file that is made to hold secrets: .env, a private key, the credentials of a tool. In
// .gitattributes, linguist-generated and linguist-vendored are recognized.
//
// Text is UTF-8, possibly with a few invalid bytes; UTF-16 with a byte order mark; or Windows-1252, which includes
// Latin-1. A [Reader] always returns UTF-8. Everything else is binary.
//
// Equal folders give equal Repositories, whatever the order in which the file system lists them. [ParseOrigin] parses
// a git remote.
package scan

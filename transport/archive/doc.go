// Package archive reads the files of a tar or zip archive into memory.
//
// [Read] takes a local file or a URL. What an archive is shows in its first
// bytes, whatever its name: .tar, .tar.gz, .tar.bz2 and .zip are read, others
// refused with an error that names them. URLs are read over package dial, under
// its policy.
//
// Nobody vouches for what an archive says of itself. Its size on the wire, its
// size unpacked, the ratio of the two, its number of files, their depth and the
// length of their paths are bounded while it is read ([Limits]), and a bound
// that is met ends the reading with an error of the code limit_exceeded. Nothing
// is written to disk but a zip from a URL that is larger than 16 MiB, into a
// temporary file without a name. An archive in the archive stays a file.
//
// An entry that has no safe name is left out and counted ([Skipped]): absolute
// or with a drive letter, with "..", a backslash, NUL or bytes that are not
// UTF-8. So are devices, pipes and hard links. Symbolic links are kept as links
// and followed by nobody. Of several entries with one name the first is kept;
// names that differ by case alone are all kept. A folder at the top that holds
// everything, as forges and registries put one there, is cut off.
package archive

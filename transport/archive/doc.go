// Package archive reads the files of a tar or zip archive into memory.
//
// [Read] takes a local file or a URL. The first bytes tell what an archive is, not its name: .tar, .tar.gz, .tar.bz2
// and .zip are read, others are refused with an error that names them. URLs are read over package dial, under its
// policy.
//
// An archive may lie about itself. [Limits] apply while it is read: to its size, its unpacked size, the ratio of the
// two, the number and depth of files, and the length of paths. Beyond a limit the error is limit_exceeded. Nothing is
// written to disk, except a zip of more than 16 MiB from a URL, into a temporary file without a name. An archive
// inside the archive stays a file.
//
// Entries without a safe name are left out and counted ([Skipped]): absolute names, drive letters, "..", backslashes,
// NUL and bytes that are not UTF-8. So are devices, pipes and hard links. Symbolic links are kept and never followed.
// Of several entries with one name the first is kept; names that differ only in case are all kept. A single folder at
// the top, as forges and registries add one, is removed from the paths.
package archive

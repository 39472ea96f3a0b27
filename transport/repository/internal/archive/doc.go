// Package archive reads the files of a tar or zip archive into memory, within limits.
//
// [Read] takes a local file or a URL. The first bytes decide about the format, not the name: .tar, .tar.gz, .tar.bz2
// and .zip are supported. For other formats the error names the format. URLs are read through package dial, under its
// policy.
//
// An archive may lie about itself. [Limits] apply while it is read: to its size, its unpacked size, the ratio of the
// two, the number and depth of files, and the length of paths. Exceeding one is the error limit_exceeded. Nothing is
// written to disk, except that a zip of more than 16 MiB from a URL goes to an unnamed temporary file. An archive
// within the archive is a plain file.
//
// Entries without a safe name are left out and counted ([Skipped]): absolute names, drive letters, "..", backslashes,
// NUL and invalid UTF-8. So are devices, pipes and hard links. Symbolic links are kept and never followed. If several
// entries have the same name, the first wins; names that differ only in case are all kept. If everything is in a single
// top folder, as with archives of forges and registries, that folder is removed from the paths.
package archive

// Package confined opens and writes files below a folder that strangers may have filled, such as a repository.
//
// It follows no symbolic link, so that neither .git nor a file elsewhere has a second name. It opens only regular
// files and folders, so that nobody waits for a pipe. [Open], [OpenFile], [Make] and [Write] also apply [Name], the
// rule for names from models and callers. [File] and [Folder] do not: they are for code that reads a repository's own
// files, such as .gitignore.
package confined

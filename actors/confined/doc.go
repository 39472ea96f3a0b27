// Package confined opens and writes files below a folder that strangers may have filled, such as a repository.
//
// No symbolic link is followed, so that neither .git nor a file elsewhere has a second name. Only regular files and
// folders are opened, so that nobody waits for a pipe. [Open], [OpenFile], [Make] and [Write] also apply [Name], the
// rule for names that models and callers give. [File] and [Folder] do not: they are for whoever reads a repository's
// own rules, such as .gitignore.
package confined

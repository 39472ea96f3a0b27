// Package confined opens and writes files below a folder that strangers may have filled, such as a repository.
//
// A name leads where its own parts say, or nowhere. No part of the way is a link, so that neither .git nor a file
// elsewhere has a second name, and what is opened is a regular file or a folder: nobody waits for a pipe. [Open],
// [OpenFile], [Make] and [Write] also heed [Name], the rule for names that models and callers give. [File] and
// [Folder] heed the way alone; they are for whoever reads a repository's own rules, such as .gitignore.
package confined

// Package source parses the name of a repository as users write it: a local folder, an archive file, owner/repo on
// GitHub, or a URL at any host. A [Repository] is what was found there.
//
// [Parse] does not use the network, and checks local paths through its caller. An existing local path takes
// precedence over owner/repo. Other packages decide which schemes and hosts may be dialled.
//
// [Locate] is Parse with the file system of this machine.
//
// The page of a single file (/blob/…) stands for the file's folder.
package source

// Package repository gets the files of a repository: of a folder, an archive, or a Git server over https or ssh.
//
// [Open] finds the repository at an address, as package source reads it; reading the files comes after. It runs no git
// and nothing of the repository, and follows no link out of it. The zero [Options] allow folders of this machine, and
// https to public addresses; a token goes to its own host alone.
//
// [Document] downloads one document. [OpenCheckout] tells what has changed in a work tree.
package repository

// Package address understands what a user wrote to name a repository: a local folder, an archive file, owner/repo of
// GitHub, or a URL of any host.
//
// [Parse] touches no network and asks for local paths through its caller. A local path that exists always wins over
// owner/repo. Whether a scheme or a host may be dialled at all is not decided here.
//
// The view of a single file (/blob/…) stands for the folder that holds it.
package address

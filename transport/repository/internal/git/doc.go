// Package git reads git repositories without running git.
//
// [Read] finds a local folder's repository, its checked-out commit and its remote; a [Checkout] also lists what
// changed since another commit. [Resolve] and [Fetch] read a remote repository over https or, if [Options] allow it,
// http, ssh or a file URL. Resolve asks for the refs and picks the commit. Fetch loads that commit alone into memory
// and returns its files as an [io/fs.FS].
//
// The package checks out nothing and runs nothing of a repository: no hooks, filters, credential helpers or shell. It
// leaves out submodules, keeps Git LFS files as pointers, and lists symbolic links without following them. It
// verifies checksums and applies [Limits] before it takes memory.
//
// Errors are a [messages.Error]: invalid_input for what the user can correct, limit_exceeded with the flag that
// raises the limit, and transport_closed, mostly retryable, for failures of the network or the server. None contains
// a token. A canceled context ends every call with its cause.
package git

// Package git reads git repositories without running git.
//
// [Read] tells where a local folder comes from: the repository that it belongs
// to, its checked-out commit and its remote; a [Checkout] also tells what changed
// in it since another commit. [Resolve] and [Fetch] read a remote
// repository, over https and, where [Options] allow it, http, ssh or from a file
// URL: Resolve asks for the refs and picks the commit, Fetch brings that commit
// alone, as deep as one commit is, into memory and gives its files as an
// [io/fs.FS].
//
// Nothing is checked out and nothing of a repository is ever executed: no hooks,
// no filters, no credential helpers, no shell. Submodules are left out, files in
// Git LFS stay the pointers that they are in the commit, symbolic links are
// listed and never followed. What a server sends is believed as far as its
// checksums go, and bounded by [Limits] before it takes memory.
//
// Errors are a [messages.Error]: invalid_input for what the user can put right,
// limit_exceeded with the flag that raises the limit, and transport_closed,
// mostly retryable, for what the network or the server did. None holds a token.
// A canceled context ends every call with its cause.
package git

// Package caller is what whoever makes a request may do and see: its runs and no others, what its scopes allow, and
// the errors that it sees. Who calls is what package auth says of the request's context.
package caller

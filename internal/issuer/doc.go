// Package issuer checks the access tokens (JWTs, RFC 9068) that an authorization server has issued. It finds the server's
// keys by its metadata, and keeps them.
package issuer

// Package trust keeps what a user has decided apart from data: approvals that last, the key that signs, and the empty
// folders in which helpers start. No project, settings file or backup moves the folder.
package trust

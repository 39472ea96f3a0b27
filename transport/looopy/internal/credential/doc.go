// Package credential lets clients encrypt secrets for the server, in the way of Looopy.
//
// An event that asks for a credential contains a public [Key]. The client answers with a compact JSON Web Encryption
// (ECDH-ES with P-256, A256GCM). Its protected header names the key, the question and the conversation. The key is
// derived from question, conversation and a secret of the server. So no key is stored, and all readers get the same one.
package credential

// Package credential has clients encrypt what they tell the server alone, as Looopy does.
//
// An event that asks for a credential holds a public [Key]. The client answers with a compact JSON Web Encryption
// (ECDH-ES with P-256, A256GCM) to it, whose protected header names the key, the question and the conversation. A key
// is derived from these two and a secret of the process: nothing is kept, every reader gets the same, and none
// outlives the process.
package credential

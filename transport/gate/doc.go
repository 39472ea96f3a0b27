// Package gate is the edge that every door over HTTP stands behind: who calls (bearer tokens bound to principals), from
// where (Host and Origin), how much (bytes of a body, requests a second), how long (timeouts), and how it ends (drain).
package gate

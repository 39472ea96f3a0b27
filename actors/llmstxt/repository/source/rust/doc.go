// Package rust reads Rust.
package rust

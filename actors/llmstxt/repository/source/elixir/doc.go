// Package elixir reads Elixir.
package elixir

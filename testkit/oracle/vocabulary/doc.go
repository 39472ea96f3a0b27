// Command vocabulary writes the table of actors/repository/tokens.
package main

//go:generate go run . ../../../actors/repository/tokens/o200k.tokens

// Command vocabulary writes the table of actors/llmstxt/repository/tokens.
package main

//go:generate go run . ../../../actors/llmstxt/repository/tokens/o200k.tokens.gz

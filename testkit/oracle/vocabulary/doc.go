// Command vocabulary writes the table of actors/llmstxt/internal/tokens.
package main

//go:generate go run . ../../../actors/llmstxt/internal/tokens/o200k.tokens.gz

// Command vocabulary writes the table of actors/llmstxt/internal/tokens. It needs zopfli, whose file is 3 % smaller than gzip's.
package main

//go:generate go run . ../../../actors/llmstxt/internal/tokens/o200k.tokens.gz

// Package tokens counts tokens of o200k_base, the encoding that OpenAI's models have read since GPT-4o. Other models
// read other encodings, whose counts differ by a tenth or so.
//
// The table of tokens is OpenAI's, from tiktoken (MIT licence). The module testkit/oracle writes it, and compares the
// counts with those of another implementation.
package tokens

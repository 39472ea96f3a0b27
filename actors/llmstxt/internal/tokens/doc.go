// Package tokens counts tokens of o200k_base, the encoding of OpenAI's models since GPT-4o. Other models use other
// encodings, whose counts differ by about a tenth.
//
// The table of tokens is OpenAI's, from tiktoken (MIT licence). The module testkit/oracle writes the table, and
// compares the counts with another implementation's.
package tokens

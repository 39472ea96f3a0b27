// Package brace reads the languages that have braces: it cuts a file into tokens and comments, finds its way among
// them, and takes the markup out of documentation.
//
// A [Lexer] knows strings, comments and nesting, not the grammar, so it never fails on a file that is broken, of a
// newer language version, or cut short. Every search takes time linear in the text.
package brace

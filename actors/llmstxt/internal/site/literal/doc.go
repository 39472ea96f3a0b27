// Package literal reads values from configuration that is written as a JavaScript or TypeScript program. It runs nothing:
// it evaluates literals, names of constants, relative imports, and functions that only return an expression. All else is
// Unknown. Depth, steps and size are bounded, so any text may be read.
package literal

// Package pieces splits the answer of a run into pieces for clients that can only append: [Numbered] keeps them for
// readers that come later, and [Words] says each once.
package pieces

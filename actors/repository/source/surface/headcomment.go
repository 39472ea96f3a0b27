package surface

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// remarks gathers the line comments of a language: the block directly above a line documents it, and the first block
// that is prose, before any code, is what the file says of itself.
type remarks struct {
	block strings.Builder
	last  int // number of the block's last line
	begun bool
	head  string
}

// add takes a comment without its marker.
func (r *remarks) add(number int, text string) {
	if r.last != number-1 {
		r.end()
		r.block.Reset()
	}
	r.block.WriteString(strings.TrimSuffix(strings.TrimPrefix(text, " "), " ") + "\n")
	r.last = number
}

// end tells that a block of comments is over.
func (r *remarks) end() {
	block := r.block.String()
	if !r.begun && r.head == "" && prose.Is(firstParagraph(block)) && !isLegal(block) {
		r.head = block
	}
}

// above gives the block that ends right above a line of code.
func (r *remarks) above(number int) string {
	r.end()
	r.begun = true
	if r.last != number-1 {
		r.block.Reset()
	}
	return r.block.String()
}

package surface

import (
	"strings"

	"github.com/seed889630bf/lastword/actors/repository/prose"
)

// Remarks gathers the line comments of a language: the block directly above a line documents it, and the first block
// that is prose, before any code, is what the file says of itself.
type Remarks struct {
	block strings.Builder
	Last  int // number of the block's last line
	Begun bool
	Head  string
}

// Add takes a comment without its marker.
func (r *Remarks) Add(number int, text string) {
	if r.Last != number-1 {
		r.End()
		r.block.Reset()
	}
	r.block.WriteString(strings.TrimSuffix(strings.TrimPrefix(text, " "), " ") + "\n")
	r.Last = number
}

// End tells that a block of comments is over.
func (r *Remarks) End() {
	block := r.block.String()
	if !r.Begun && r.Head == "" && prose.Is(FirstParagraph(block)) && !IsLegal(block) {
		r.Head = block
	}
}

// Above gives the block that ends right above a line of code.
func (r *Remarks) Above(number int) string {
	r.End()
	r.Begun = true
	if r.Last != number-1 {
		r.block.Reset()
	}
	return r.block.String()
}

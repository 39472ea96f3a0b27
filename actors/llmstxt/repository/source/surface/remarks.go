package surface

import "strings"

// Remarks gathers the line comments of a language: the block directly above a line documents it.
type Remarks struct {
	block strings.Builder
	Last  int  // number of the block's last line
	Begun bool // there was code
}

// Add takes a comment without its marker.
func (r *Remarks) Add(number int, text string) {
	if r.Last != number-1 {
		r.block.Reset()
	}
	r.block.WriteString(strings.TrimSuffix(strings.TrimPrefix(text, " "), " ") + "\n")
	r.Last = number
}

// Above gives the block that ends right above a line of code.
func (r *Remarks) Above(number int) string {
	r.Begun = true
	if r.Last != number-1 {
		r.block.Reset()
	}
	return r.block.String()
}

package tokens

// CountPieces counts a text as if it were one line.
func CountPieces(text string) int {
	c := counters.Get().(*counter)
	defer counters.Put(c)
	return c.pieces(text)
}

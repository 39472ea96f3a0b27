package tokens

// Counter counts the tokens of what is written to it.
type Counter struct {
	Counts *Counts // of its parts
	count  int
	held   []byte
}

// Write never fails.
func (c *Counter) Write(text []byte) (int, error) {
	known := len(c.held)
	c.held = append(c.held, text...)
	if end := boundary(c.held, known); end > 0 {
		c.count += c.Counts.Of(c.held[:end])
		c.held = append(c.held[:0], c.held[end:]...)
	}
	return len(text), nil
}

// Count returns the tokens of all that was written.
func (c *Counter) Count() int { return c.count + c.Counts.Of(c.held) }

// boundary returns where the last line begins with a letter or a digit of ASCII, if it begins at from or behind, or 0.
// No piece crosses that.
func boundary(text []byte, from int) int {
	for i := len(text) - 1; i >= max(from, 1); i-- {
		if text[i-1] == '\n' && text[i] < 0x80 && ascii[text[i]]&(letter|number) != 0 {
			return i
		}
	}
	return 0
}

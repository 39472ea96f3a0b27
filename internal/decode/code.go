package decode

// Code tracks whether Markdown is inside a code fence or inline code. The zero value is the start of a text. Inline
// code ends with its line at the latest, so that a single backtick cannot hide the rest of the answer.
type Code struct {
	mid    bool // the line has a character that is not blank
	tick   byte // character of the current ticks; there are run of them, or more
	run    int
	fence  byte // character of the open fence, 0 for none
	size   int
	info   bool // on the line that opened the fence
	ending bool // on a line that ends the fence unless something follows
	inline int  // length of the run that opened the inline code, 0 for none
}

// Inside reports whether the next byte, unless it is a backtick, is in code.
func (c *Code) Inside() bool {
	c.settle()
	return c.fence != 0 || c.inline != 0
}

// calm reports whether only a backtick or the end of the line can change the state.
func (c *Code) calm() bool { return c.mid && c.run == 0 && !c.ending }

// Step takes the next byte.
func (c *Code) Step(b byte) {
	if c.run > 0 && b != c.tick {
		c.settle()
	}
	switch {
	case b == '`', b == '~' && !c.mid:
		c.tick = b
		c.run++
	case b == '\n':
		if c.ending {
			c.fence = 0
		}
		c.mid, c.info, c.ending, c.inline = false, false, false, 0
	case !blank(b):
		c.mid, c.ending = true, false
	}
}

// settle ends the current run of backticks.
func (c *Code) settle() {
	n, first := c.run, !c.mid
	if n == 0 {
		return
	}
	c.run, c.mid, c.ending = 0, true, false
	switch {
	case c.info && c.fence == '`' && c.tick == '`':
		c.fence, c.info, c.inline = 0, false, c.size
		c.span(n)
	case c.fence != 0:
		c.ending = first && !c.info && c.tick == c.fence && n >= c.size
	case first && n >= 3:
		c.fence, c.size, c.info = c.tick, n, true
	case c.tick == '`':
		c.span(n)
	}
}

// span opens or closes inline code.
func (c *Code) span(n int) {
	switch c.inline {
	case 0:
		c.inline = n
	case n:
		c.inline = 0
	}
}

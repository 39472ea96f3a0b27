package surface

import "context"

// clock tells loops when to end because nobody waits for what they find any more. A context is too dear to be asked
// at every token.
type clock struct {
	ctx   context.Context
	asked uint8
	done  bool
}

func (c *clock) over() bool {
	if c.asked++; c.asked == 0 {
		c.done = c.done || c.ctx.Err() != nil
	}
	return c.done
}

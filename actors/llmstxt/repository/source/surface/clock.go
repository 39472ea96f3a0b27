package surface

import "context"

// Clock tells loops when to end because nobody waits for what they find any more. A context is too dear to be asked
// at every token.
type Clock struct {
	Context context.Context
	asked   uint8
	done    bool
}

// Over tells that nobody waits any more.
func (c *Clock) Over() bool {
	if c.asked++; c.asked == 0 {
		c.done = c.done || c.Context.Err() != nil
	}
	return c.done
}

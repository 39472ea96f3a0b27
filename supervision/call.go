package supervision

// Work is done by a node's warm goroutines.
type Work interface {
	// Work may block: it has its goroutine for itself.
	Work()
	// Crashed is told of a panic or a Goexit of Work.
	Crashed(crash *Crash)
}

// Call has the work done, and returns at once.
func (n *Node) Call(w Work) { n.warm.schedule(call{w}) }

type call struct{ Work }

func (call) resumes() bool { return false }

// turn implements [turner]. The deferred function must itself look at the stack of the panic.
func (c call) turn() {
	returned := false
	defer func() {
		if !returned {
			c.Crashed(caught(recover(), "a call"))
		}
	}()
	c.Work.Work()
	returned = true
}

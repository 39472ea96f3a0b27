package wire

// Hold counts the bytes of what will be a long answer, from now until it is written, which takes as long as its client
// likes. It reports whether there was room: all answers together may hold 16 times the longest message.
func (x *Exchange) Hold(bytes int64) bool {
	s := x.server
	if s.answers.Add(bytes) > longest*s.config.Message {
		s.answers.Add(-bytes)
		return false
	}
	x.held.Add(bytes)
	return true
}

func (x *Exchange) unhold() { x.server.answers.Add(-x.held.Swap(0)) }

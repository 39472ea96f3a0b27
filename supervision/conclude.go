package supervision

// Conclude is Send for what must be told although the task was canceled: how something that it had begun came to an
// end. A canceled task has as many such messages as it has credits; they take none, so that Conclude never blocks
// longer than the cancel. Of an abandoned task nothing is sent.
func (t *Task) Conclude(msg any) error {
	err := t.Send(msg)
	if err == nil {
		return nil
	}
	if t.abandoned.Load() || int(t.concluded.Add(1)) > cap(t.credits) {
		return err
	}
	t.sink.send(&TaskMessage{Message: msg})
	return nil
}

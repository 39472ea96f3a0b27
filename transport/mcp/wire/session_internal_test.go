package wire

import "testing"

// A response that has ended is not written to, though somebody had its stream before: it may be another's by then.
func TestEndedStreamIsNotWritten(t *testing.T) {
	written := 0
	p := &sessionStream{write: func(*frame) error {
		written++
		return nil
	}}
	f, err := callFrame("", "", "notifications/x", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.free()
	if err := p.send(f); err != nil || written != 1 {
		t.Fatal(err, written)
	}
	p.close()
	if err := p.send(f); err == nil || written != 1 {
		t.Errorf("written %d times, %v", written, err)
	}
}

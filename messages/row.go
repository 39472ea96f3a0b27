package messages

import "encoding/json"

// traits are all that the package knows of a kind, in one place. A function that is left nil does nothing.
type traits struct {
	delta     bool // may be merged with its neighbours
	early     bool // may come before run.started
	begins    bool // may not come once a cancel is accepted
	taskSays  bool // a task may say it
	takesBack bool // takes texts back: whoever sees a text's deltas sees it

	size  func(Body) int          // the bytes of all that it holds
	own   func(Body, string) Body // the body as said by the task
	clone func(Body) Body         // the body in memory of its own
	wire  func(Body) Body         // the body as it is written

	key    func(Body) partKey // which deltas merge to one
	stream func(Body) string  // the text or thought it is of
	closes Kind               // the kind of the deltas that it closes

	rewind func(Body) *Rewind
	last   func(Body) word // what a terminal says

	legal func(Body, *Fold) *broken // why it may not come now; changes nothing
	apply func(Body, *Fold)         // what a legal one changes
	list  func(Body, *Summary)      // what it changes in a list of runs

	decode func([]byte) (Body, error)
	is     func(Body) bool
}

// row returns the row of the kind whose bodies are of type B.
func row[B Body](group, says string, t traits) *KindInfo {
	var zero B
	t.decode = decodeBody[B]
	t.is = func(b Body) bool { _, ok := b.(B); return ok }
	info := &KindInfo{Kind: zero.Kind(), Group: group, Says: says, Zero: zero, traits: t}
	if t.delta {
		info.Level = Delta
	}
	return info
}

// rowOf returns the row of the body's kind; that of a stranger, such as a pointer to a body, has nothing.
func rowOf(b Body) *KindInfo {
	if b != nil {
		if row := b.info(); row.is(b) {
			return row
		}
	}
	return stranger
}

var stranger = &KindInfo{}

// of makes a function of bodies of one kind one of any body, for the row of that kind; so do with and to.
func of[B Body, R any](f func(B) R) func(Body) R { return func(b Body) R { return f(b.(B)) } }

func with[B Body, A, R any](f func(B, A) R) func(Body, A) R {
	return func(b Body, a A) R { return f(b.(B), a) }
}

func to[B Body, A any](f func(B, A)) func(Body, A) { return func(b Body, a A) { f(b.(B), a) } }

func decodeBody[B Body](payload []byte) (Body, error) {
	var b B
	if len(payload) == 0 {
		payload = []byte("{}")
	}
	err := json.Unmarshal(payload, &b)
	return b, err
}

// Owned returns the body as the task's own: it names the task wherever its kind names one.
func Owned(b Body, task string) Body {
	if own := rowOf(b).own; own != nil {
		return own(b, task)
	}
	return b
}

// Clone returns the body in memory of its own: nothing that its caller changes later reaches it.
func Clone(b Body) Body {
	if clone := rowOf(b).clone; clone != nil {
		return clone(b)
	}
	return b
}

func cloned[T any](p *T) *T {
	if p == nil {
		return nil
	}
	return new(*p)
}

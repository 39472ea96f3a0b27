package messages

import "encoding/json"

// row is all that the package knows of a kind, in one place. A function that is left nil does nothing.
type row[B Body] struct {
	group, says string
	delta       bool // may be merged with its neighbours
	early       bool // may come before run.started
	begins      bool // may not come once a cancel is accepted
	taskSays    bool // a task may say it
	takesBack   bool // takes texts back: whoever sees a text's deltas sees it

	size  func(B) int          // the bytes of all that it holds
	own   func(B, string) Body // the body as said by the task
	clone func(B) Body         // the body in memory of its own
	wire  func(B) Body         // the body as it is written

	key    func(B) partKey // which deltas merge to one
	stream func(B) string  // the text or thought it is of
	closes Kind            // the kind of the deltas that it closes

	rewind func(B) *Rewind
	last   func(B) word // what a terminal says

	legal func(B, *Fold) *broken // why it may not come now; changes nothing
	apply func(B, *Fold)         // what a legal one changes
	list  func(B, *Summary)      // what it changes in a list of runs
}

// traits is a row for a body of any kind.
type traits struct {
	early, begins, taskSays, takesBack bool

	size   func(Body) int
	own    func(Body, string) Body
	clone  func(Body) Body
	wire   func(Body) Body
	key    func(Body) partKey
	stream func(Body) string
	closes Kind
	rewind func(Body) *Rewind
	last   func(Body) word
	legal  func(Body, *Fold) *broken
	apply  func(Body, *Fold)
	list   func(Body, *Summary)
	decode func([]byte) (Body, error)
	is     func(Body) bool
}

func (r row[B]) info() *KindInfo {
	var zero B
	info := &KindInfo{Kind: zero.Kind(), Group: r.group, Says: r.says, Zero: zero, traits: traits{
		early: r.early, begins: r.begins, taskSays: r.taskSays, takesBack: r.takesBack,
		size: of(r.size), clone: of(r.clone), wire: of(r.wire), key: of(r.key), stream: of(r.stream), closes: r.closes,
		rewind: of(r.rewind), last: of(r.last), own: with(r.own), legal: with(r.legal), decode: decodeBody[B],
		is: func(b Body) bool { _, ok := b.(B); return ok },
	}}
	if r.delta {
		info.Level = Delta
	}
	if r.apply != nil {
		info.apply = func(b Body, f *Fold) { r.apply(b.(B), f) }
	}
	if r.list != nil {
		info.list = func(b Body, s *Summary) { r.list(b.(B), s) }
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

// of makes a function of a kind's bodies one of any body; the caller takes it from the row of the body's kind.
func of[B Body, R any](f func(B) R) func(Body) R {
	if f == nil {
		return nil
	}
	return func(b Body) R { return f(b.(B)) }
}

func with[B Body, A, R any](f func(B, A) R) func(Body, A) R {
	if f == nil {
		return nil
	}
	return func(b Body, a A) R { return f(b.(B), a) }
}

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

package supervision_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed889630bf/lastword/supervision"
)

// numbered is message i of a sender.
type numbered struct{ sender, i int }

func TestFloodKeepsEverySendersOrder(t *testing.T) {
	const senders, each = 10, 1000
	inNode(t, func(t *testing.T, n *supervision.Node) {
		next, f := make([]int, senders), newFamily(t, n)
		sink := f.startFunc("sink", func(ctx actor.Context) {
			if m, ok := ctx.Message().(numbered); ok {
				if next[m.sender] != m.i {
					t.Errorf("sender %d: message %d came when %d was due", m.sender, m.i, next[m.sender])
				}
				next[m.sender]++
			}
		})
		var wg sync.WaitGroup
		for s := range senders {
			wg.Go(func() {
				for i := range each {
					n.Root().Send(sink, numbered{s, i})
				}
			})
		}
		wg.Wait()
		synctest.Wait()
		for s, got := range next {
			if got != each {
				t.Errorf("sender %d: %d of %d messages", s, got, each)
			}
		}
	})
}

// A queue that is never empty reuses its room, in order.
func TestQueueThatIsNeverEmptyKeepsItsOrder(t *testing.T) {
	const ahead, all = 3, 1000
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		due := 0
		child := f.startFunc("child", func(ctx actor.Context) {
			m, ok := ctx.Message().(numbered)
			if !ok {
				return
			}
			if m.i != due {
				t.Errorf("message %d came when %d was due", m.i, due)
			}
			if due++; m.i+ahead < all {
				ctx.Send(ctx.Self(), numbered{0, m.i + ahead})
			}
		})
		f.tell(child, func(ctx actor.Context) {
			for i := range ahead {
				ctx.Send(ctx.Self(), numbered{0, i})
			}
		})
		if due != all {
			t.Errorf("%d of %d messages", due, all)
		}
	})(t)
}

// A nil message is none: what follows it is handled.
func TestNilMessageIsNone(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		handled := false
		child := f.startFunc("child", func(ctx actor.Context) {
			_, ok := ctx.Message().(numbered)
			handled = handled || ok
		})
		n.Root().Send(child, nil)
		n.Root().Send(child, numbered{})
		if synctest.Wait(); !handled {
			t.Error("the actor hangs after a nil message")
		}
	})(t)
}

// A stop overtakes what is queued, and what is queued is not handled any more.
func TestStopOvertakesTheQueue(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		hold, release := block(t)
		handled := 0
		child := f.startFunc("child", upon[numbered](func(actor.Context) { handled++ }))
		f.tell(child, hold)
		for i := range 100 {
			n.Root().Send(child, numbered{0, i})
		}
		f.ask("child")
		release()
		synctest.Wait()
		if f.onlyExit(); handled != 0 {
			t.Errorf("%d messages were handled before the stop", handled)
		}
	})(t)
}

// Nobody here resumes an actor, but the library's interface lets a strategy do it.
func TestSuspendedActorHandlesNothingUntilResumed(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		handled := 0
		child := f.startFunc("child", upon[numbered](func(actor.Context) { handled++ }))
		process, _ := n.System().ProcessRegistry.Get(child)
		process.SendSystemMessage(child, &actor.SuspendMailbox{})
		n.Root().Send(child, numbered{})
		synctest.Wait()
		if handled != 0 {
			t.Error("handled while suspended")
		}
		process.SendSystemMessage(child, &actor.ResumeMailbox{})
		synctest.Wait()
		if handled != 1 {
			t.Errorf("%d messages handled after the resume", handled)
		}
	})(t)
}

// A handled message is let go of, by an idle mailbox and by one that is never empty.
func TestHandledMessagesAreNotKept(t *testing.T) {
	inFamily(func(t *testing.T, n *supervision.Node, f *family) {
		child := f.startFunc("child", nil)
		hold, release := block(t)
		sent := make([]weak.Pointer[[1 << 16]byte], 10)
		for i := range sent {
			big := new([1 << 16]byte)
			sent[i] = weak.Make(big)
			n.Root().Send(child, big)
		}
		n.Root().Send(child, do(hold))
		n.Root().Send(child, "behind")
		synctest.Wait()
		runtime.GC()
		for i, big := range sent {
			if big.Value() != nil {
				t.Errorf("message %d is kept", i)
			}
		}
		release()
	})(t)
}

// Spawning is safe for concurrent use: no child gets another's actor.
func TestConcurrentStarts(t *testing.T) {
	inNode(t, func(t *testing.T, n *supervision.Node) {
		const parents, each = 20, 10
		var wrong sync.Map
		for p := range parents {
			body := &parent{Children: &supervision.Children{Node: n}}
			pid := n.Root().Spawn(n.Props(func() actor.Actor { return body }))
			n.Root().Send(pid, do(func(ctx actor.Context) {
				for i := range each {
					name := fmt.Sprint("child", p, "-", i)
					_, err := body.Start(ctx, supervision.ChildSpec{Name: name, New: func() actor.Actor {
						return obeying(func(ctx actor.Context) {
							if want := ctx.Parent().Id + "/" + name; ctx.Self().Id != want {
								wrong.Store(ctx.Self().Id, want)
							}
						})
					}})
					if err != nil {
						wrong.Store(name, err)
					}
				}
			}))
		}
		synctest.Wait()
		wrong.Range(func(k, v any) bool { t.Errorf("%v, want %v", k, v); return true })
	})
}

package subscription

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/seed889630bf/lastword/messages"
)

// Issue 5: "Slow readers slow nobody but themselves." What changes while one does not read costs nobody any time, and
// is told once, in the order in which it changed first.
func TestASlowSubscriberIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		read := make(chan topic)
		sub := New(Config{}).newSubscriber("", func(ctx context.Context, t topic) {
			select {
			case read <- t:
			case <-ctx.Done():
			}
		})
		go sub.pump(ctx, nil)
		a, b, c := topic{uri: "a"}, topic{uri: "b"}, topic{run: "r_1"}
		mark := func(topics ...topic) {
			for _, t := range topics {
				_ = sub.add(t)
				sub.mark(func(own topic) bool { return own == t })
			}
		}
		mark(a)
		synctest.Wait() // a is being told
		for range 10_000 {
			mark(b, c, a)
		}
		sub.remove(c)
		for i, want := range []topic{a, b, a} {
			if got := <-read; got != want {
				t.Errorf("told of %v as number %d, want %v", got, i, want)
			}
		}
		synctest.Wait()
		select {
		case got := <-read:
			t.Errorf("told of %v once more", got)
		default:
		}
		stop()
		synctest.Wait()
	})
}

// With the terminal nobody follows the run any more, in the same moment: whoever subscribes then, with a State from
// before, follows it again, and is told.
func TestTheTerminalEndsTheFollowing(t *testing.T) {
	sub := New(Config{}).newSubscriber("", nil)
	stopped := false
	run := messages.State{RunID: "r", Queued: &messages.RunQueued{}}
	_ = sub.add(topic{uri: "run://r", run: "r"})
	sub.follows["r"] = func() { stopped = true }
	sub.took(run, messages.Event{RunID: "r", Seq: 4, From: 4, Body: messages.TaskStarted{}})
	if sub.follows["r"] == nil || stopped {
		t.Fatal("gone before the terminal")
	}
	sub.took(run, messages.Event{RunID: "r", Seq: 5, From: 5, Body: messages.RunCompleted{}})
	if sub.follows["r"] != nil || !stopped {
		t.Error("still there after the terminal")
	}
}

// A subscription that comes as its session ends leaves nothing behind.
func TestNobodySubscribesForASessionThatIsOver(t *testing.T) {
	h := New(Config{})
	sub := h.newSubscriber("", nil)
	h.endSession(nil, sub)
	if err := sub.add(topic{uri: "x://y"}); err != nil {
		t.Error(err)
	}
	if left := len(h.all) + len(h.sessions); left > 0 || len(sub.topics) > 0 {
		t.Errorf("kept are %+v", left)
	}
}

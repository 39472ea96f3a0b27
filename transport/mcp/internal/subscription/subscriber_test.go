package subscription

import (
	"context"
	"testing"
	"testing/synctest"
)

// Issue 5: "Slow readers slow nobody but themselves." What changes while one does not read costs nobody any time, and
// is told once, in the order in which it changed first.
func TestASlowSubscriberIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		read := make(chan topic)
		sub := New(Config{}).newSubscriber(ctx, "", func(ctx context.Context, t topic) {
			select {
			case read <- t:
			case <-ctx.Done():
			}
		})
		go sub.pump(nil)
		a, b, c := topic{uri: "a"}, topic{uri: "b"}, topic{run: "r_1"}
		mark := func(topics ...topic) {
			for _, t := range topics {
				_ = sub.add(t, nil)
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

// A subscription that comes as its session ends leaves nothing behind.
func TestNobodySubscribesForASessionThatIsOver(t *testing.T) {
	h := New(Config{})
	sub := h.newSubscriber(t.Context(), "", nil)
	h.endSession(nil, sub)
	if err := sub.add(topic{uri: "x://y"}, nil); err != nil {
		t.Error(err)
	}
	if left := len(h.all) + len(h.sessions); left > 0 || len(sub.topics) > 0 {
		t.Errorf("kept are %+v", left)
	}
}

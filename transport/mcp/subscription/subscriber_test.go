package subscription

import (
	"context"
	"fmt"
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

// A pump ends with what it is for, also while it has nothing to do.
func TestPumpEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			New(Config{}).newSubscriber("", func(context.Context, topic) {}).pump(t.Context(), done)
		}()
		synctest.Wait()
		close(done)
		<-ended
	})
}

// "run://{id} and its events change at each milestone, an artifact when it is written, and all with the end"; a task
// where it may stand otherwise; nothing with a delta, which took does not ask about.
func TestWhatAnEventChanges(t *testing.T) {
	run, events := topic{uri: "run://r", run: "r"}, topic{uri: "run://r/events", run: "r"}
	llms, task := topic{uri: "run://r/artifacts/llms.txt", run: "r", artifact: "llms.txt"}, topic{run: "r"}
	llmsFile, other := messages.Artifact{Name: "llms.txt"}, messages.Artifact{Name: "other.txt"}
	for _, c := range []struct {
		body    messages.Body
		changed []topic
	}{
		{messages.TaskStarted{}, []topic{run, events}},
		{messages.ToolStarted{}, []topic{run, events}},
		{messages.ArtifactWritten{Artifact: llmsFile}, []topic{run, events, llms}},
		{messages.ArtifactPartial{Artifact: llmsFile}, []topic{run, events, llms}},
		{messages.ArtifactWritten{Artifact: other}, []topic{run, events}},
		{messages.ArtifactPartial{Artifact: other}, []topic{run, events}},
		{messages.InputRequired{}, []topic{run, events, task}},
		{messages.InputReceived{}, []topic{run, events, task}},
		{messages.RunCanceling{}, []topic{run, events, task}},
		{messages.RunCompleted{}, []topic{run, events, llms, task}},
		{messages.RunFailed{}, []topic{run, events, llms, task}},
		{messages.RunCanceled{}, []topic{run, events, llms, task}},
	} {
		want := fmt.Sprint(c.changed)
		var got []topic
		for _, t := range []topic{run, events, llms, task} {
			if t.changes(messages.Event{Body: c.body}) {
				got = append(got, t)
			}
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s changes %v, want %v", c.body.Kind(), got, want)
		}
	}
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
	if left := h.Kept(); left != (Kept{}) || len(sub.topics) > 0 {
		t.Errorf("kept are %+v", left)
	}
}

// What one has unsubscribed from is not told any more, also where it had changed before.
func TestWhatIsUnsubscribedIsNotTold(t *testing.T) {
	h := New(Config{})
	sub := h.newSubscriber("", nil)
	kept, left := topic{uri: "x://kept"}, topic{uri: "x://left"}
	for _, topic := range []topic{left, kept} {
		if err := sub.add(topic); err != nil {
			t.Fatal(err)
		}
		h.Updated(topic.uri)
	}
	sub.remove(left)
	if got, ok := sub.next(); !ok || got != kept {
		t.Errorf("told of %v", got)
	}
	if got, ok := sub.next(); ok {
		t.Errorf("told of %v as well", got)
	}
}

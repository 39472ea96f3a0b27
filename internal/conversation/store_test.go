package conversation_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// everywhere runs a test with each form of Store, in virtual time.
func everywhere(t *testing.T, test func(t *testing.T, s *conversation.Store)) {
	t.Helper()
	t.Run("memory", func(t *testing.T) { synctest.Test(t, func(t *testing.T) { test(t, conversation.NewMemory(100)) }) })
	t.Run("folder", func(t *testing.T) {
		s := open(t, t.TempDir())
		synctest.Test(t, func(t *testing.T) { test(t, s) })
	})
}

func open(t *testing.T, dir string) *conversation.Store {
	t.Helper()
	s, err := conversation.Open(dir, 0)
	must(t, err)
	return s
}

func begin(t *testing.T, s *conversation.Store, owner, message string) *conversation.Turn {
	t.Helper()
	turn, err := s.Begin("c_1", conversation.Beginning{Owner: owner, Message: message})
	fatal.IfError(t, err)
	return turn
}

func assistant(text string) model.Message { return model.Message{Role: model.Assistant, Content: text} }

func must(t *testing.T, errs ...error) {
	t.Helper()
	fatal.IfError(t, errors.Join(errs...))
}

// want compares a history in a few words.
func want(t *testing.T, list []model.Message, want string) {
	t.Helper()
	var words []string
	for _, m := range list {
		words = append(words, strings.ReplaceAll(fmt.Sprintf("%s: %s", m.Role, m.Content), "\n\n", " "))
	}
	if got := strings.Join(words, " | "); got != want {
		t.Errorf("the history is\n%s\nwant\n%s", got, want)
	}
}

func TestRemembers(t *testing.T) {
	everywhere(t, func(t *testing.T, s *conversation.Store) {
		one, err := s.Begin("c_1", conversation.Beginning{Owner: "r_1", Message: "one", System: "Be brief."})
		must(t, err)
		calls := []model.ToolCall{{ID: "a", Name: "look", Arguments: `{"x":1}`}}
		must(t, one.Say(model.Message{Role: model.Assistant, Thoughts: "hm", Calls: calls}),
			one.Say(model.Message{Role: model.ToolRole, CallID: "a", Content: "seen"}, assistant("first")), one.Taint(), one.End(""))
		two := begin(t, s, "r_2", "two")
		want(t, two.History(), "user: one | assistant:  | tool: seen | assistant: first | user: two")
		said := two.History()[1]
		if said.Thoughts != "hm" || len(said.Calls) != 1 || said.Calls[0] != calls[0] || two.History()[2].CallID != "a" {
			t.Errorf("the call is remembered as %+v", two.History()[1:3])
		}
		if two.System() != "Be brief." || !two.Tainted() {
			t.Errorf("system %q, tainted %t", two.System(), two.Tainted())
		}
	})
}

// One turn at a time, until its time has passed; then it cannot speak any more.
func TestOneTurn(t *testing.T) {
	everywhere(t, func(t *testing.T, s *conversation.Store) {
		one := begin(t, s, "r_1", "one")
		time.Sleep(4 * time.Minute)
		_, err := s.Begin("c_1", conversation.Beginning{Owner: "r_2", Message: "two"})
		busy, ok := errors.AsType[*conversation.BusyError](err)
		if !ok || busy.Owner != "r_1" || busy.Age != 4*time.Minute || messages.CodeOf(err) != messages.CodeConflict {
			t.Fatalf("the second turn: %v", err)
		}
		time.Sleep(time.Minute)
		two := begin(t, s, "r_2", "two")
		if err := one.Say(assistant("late")); messages.CodeOf(err) != messages.CodeConflict {
			t.Errorf("the first turn speaks: %v", err)
		}
		if err := one.End(""); messages.CodeOf(err) != messages.CodeConflict {
			t.Errorf("the first turn ends: %v", err)
		}
		must(t, two.Say(assistant("second")), two.End(""))
		want(t, begin(t, s, "r_3", "three").History(), "user: one | assistant: (This turn was interrupted: its time has "+
			"passed.) | user: two | assistant: second | user: three")
	})
}

// A run that is started again says its turn again, and not twice.
func TestSameOwner(t *testing.T) {
	everywhere(t, func(t *testing.T, s *conversation.Store) {
		zero := begin(t, s, "r_0", "zero")
		must(t, zero.End(""))
		one := begin(t, s, "r_1", "one")
		must(t, one.Say(assistant("half")))
		again := begin(t, s, "r_1", "one")
		want(t, again.History(), "user: zero | user: one")
		if err := one.Say(assistant("other half")); messages.CodeOf(err) != messages.CodeConflict {
			t.Errorf("the first attempt speaks: %v", err)
		}
		must(t, again.Say(assistant("whole")), again.End(""))
		want(t, begin(t, s, "r_2", "two").History(), "user: zero | user: one | assistant: whole | user: two")
	})
}

func TestInterrupted(t *testing.T) {
	everywhere(t, func(t *testing.T, s *conversation.Store) {
		one := begin(t, s, "r_1", "one")
		must(t, one.Say(assistant("half")), one.End(messages.CauseCanceledByUser))
		want(t, begin(t, s, "r_2", "two").History(),
			"user: one | assistant: half | assistant: (This turn was interrupted: canceled by user.) | user: two")
	})
}

func TestIDs(t *testing.T) {
	for id, ok := range map[string]bool{"a": true, "c_01-x.y": true, conversation.NewID(): true, "": false, "Ab": true, "ä": false,
		".": false, "..": false, "a/b": false, "a\\b": false, "a.": false, ".a": false, strings.Repeat("a", 65): false} {
		if err := conversation.CheckID(id); (err == nil) != ok || err != nil && messages.CodeOf(err) != "invalid_input" {
			t.Errorf("%q: %v", id, err)
		}
	}
	dir := t.TempDir()
	s, err := conversation.Open(dir, 0)
	must(t, err)
	for _, id := range []string{"Ab", "aB", "ab"} {
		turn, err := s.Begin(id, conversation.Beginning{Owner: "r_1", Message: id})
		must(t, err)
		must(t, turn.End(""))
	}
	list, err := s.List()
	must(t, err)
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if names := strings.ReplaceAll(strings.Join(files, " "), dir, ""); len(list) != 3 || list[0].Title != list[0].ID || len(files) != 3 || names != strings.ToLower(names) {
		t.Errorf("%v in %s", list, names) // some file systems take capitals for small letters
	}
	synctest.Test(t, func(t *testing.T) {
		last := ""
		for range 100 {
			id := conversation.NewID()
			if id <= last {
				t.Errorf("%s comes after %s", id, last)
			}
			last = id
			time.Sleep(time.Duration(len(id)) * 37 * time.Millisecond)
		}
	})
}

func TestMemoryIsBounded(t *testing.T) {
	s := conversation.NewMemory(2)
	for _, id := range []string{"a", "b", "c", "a"} {
		turn, err := s.Begin(id, conversation.Beginning{Owner: "r_" + id, Message: id})
		must(t, err, turn.End(""))
		want(t, turn.History(), "user: "+id)
	}
}

// A turn takes over from one whose run is known to be over, and from no other.
func TestTurnThatIsOver(t *testing.T) {
	everywhere(t, func(t *testing.T, s *conversation.Store) {
		begin(t, s, "r_1", "One.")
		if _, err := s.Begin("c_1", conversation.Beginning{Owner: "r_3", Message: "Three.", Over: "r_2"}); err == nil {
			t.Error("a turn goes on that another must not take over")
		}
		turn, err := s.Begin("c_1", conversation.Beginning{Owner: "r_2", Message: "Two.", Over: "r_1"})
		must(t, err)
		want(t, turn.History(), "user: One. | assistant: (This turn was interrupted: its process has ended.) | user: Two.")
		must(t, turn.End(""))
	})
}

// A turn whose run begins again after its end, because a node was lost in between, is in the conversation once.
func TestTurnAgainAfterItsEnd(t *testing.T) {
	everywhere(t, func(t *testing.T, s *conversation.Store) {
		turn := begin(t, s, "r_1", "One.")
		must(t, turn.Allow("pin"), turn.Say(assistant("Yes.")), turn.End(""))
		turn = begin(t, s, "r_1", "One.")
		want(t, turn.History(), "user: One.")
		if !turn.Allowed("pin") || turn.Allowed("another") {
			t.Error("what was allowed is forgotten, or more is")
		}
		must(t, turn.End(""))
	})
}

package conversation_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// talk says some turns, each an hour after the one before.
func talk(t *testing.T, s *conversation.Store, id string, said ...string) {
	t.Helper()
	for _, message := range said {
		turn, err := s.Begin(id, conversation.Beginning{Owner: "r_" + message, Message: message})
		must(t, err)
		must(t, turn.Say(assistant("to "+message)), turn.End(""))
		time.Sleep(time.Hour)
	}
}

func ids(list []conversation.Info) string {
	var ids []string
	for _, i := range list {
		ids = append(ids, i.ID)
	}
	return strings.Join(ids, " ")
}

func TestListAndSearch(t *testing.T) {
	everywhere(t, func(t *testing.T, s *conversation.Store) {
		created := time.Now()
		talk(t, s, "one", "Hello\nto all.", "again")
		talk(t, s, "two", strings.Repeat("ä", 50))
		talk(t, s, "one", "once more")
		list, err := s.List()
		must(t, err)
		if ids(list) != "one two" {
			t.Fatalf("the list is %s", ids(list))
		}
		first := list[0]
		if first.Title != "Hello" || first.Turns != 3 || first.Messages != 6 || first.Bytes == 0 || first.Owner != "" ||
			!first.Created.Equal(created) || first.Updated.Sub(created) != 3*time.Hour {
			t.Errorf("the first is %+v", first)
		}
		if want := strings.Repeat("ä", 40) + "…"; list[1].Title != want {
			t.Errorf("the title is %q", list[1].Title)
		}
		must(t, s.Rename("two", " Other "))
		for text, want := range map[string]string{"TO AGAIN": "one", "to ": "one two", "other": "two", "none": ""} {
			found, err := s.Search(text)
			if must(t, err); ids(found) != want {
				t.Errorf("%q is in %s", text, ids(found))
			}
		}
		for prefix, want := range map[string]string{"o": "one", "two": "two"} {
			if id, err := s.Find(prefix); err != nil || id != want {
				t.Errorf("%s is %s: %v", prefix, id, err)
			}
		}
		for prefix, want := range map[string]messages.Code{"": "invalid_input", "x": messages.CodeNotFound} {
			if _, err := s.Find(prefix); messages.CodeOf(err) != want {
				t.Errorf("%q: %v", prefix, err)
			}
		}
	})
}

func TestFork(t *testing.T) {
	everywhere(t, func(t *testing.T, s *conversation.Store) {
		talk(t, s, "one", "a", "b", "c")
		open := begin(t, s, "r_1", "x")
		must(t, open.Taint())
		talk(t, s, "two", "a")
		busy, err := s.Begin("two", conversation.Beginning{Owner: "r_x", Message: "open"})
		must(t, err, busy.Taint())
		for _, c := range []struct {
			from  string
			turns int
			want  string
		}{{"one", 0, "user: a | assistant: to a | user: b | assistant: to b | user: c | assistant: to c"},
			{"one", 2, "user: a | assistant: to a | user: b | assistant: to b"},
			{"one", 9, "user: a | assistant: to a | user: b | assistant: to b | user: c | assistant: to c"},
			{"two", 0, "user: a | assistant: to a"}} {
			id, err := s.Fork(c.from, c.turns)
			must(t, err)
			info, said, err := s.Read(id)
			must(t, err)
			want(t, said, c.want)
			if info.From != c.from || info.Tainted != (c.from == "two") || info.Owner != "" {
				t.Errorf("the fork is %+v", info)
			}
			talk(t, s, id, "other")
		}
		_, said, err := s.Read("one")
		if must(t, err); len(said) != 6 {
			t.Errorf("the origin has %d messages", len(said))
		}
	})
}

func TestDelete(t *testing.T) {
	everywhere(t, func(t *testing.T, s *conversation.Store) {
		turn := begin(t, s, "r_1", "one")
		if err := s.Delete("c_1"); messages.CodeOf(err) != messages.CodeConflict {
			t.Errorf("a turn has it: %v", err)
		}
		must(t, turn.End(""), s.Delete("c_1"))
		for _, id := range []string{"c_1", "../c_1", ""} {
			if err := s.Delete(id); messages.CodeOf(err) != messages.CodeNotFound {
				t.Errorf("%q is deleted: %v", id, err)
			}
		}
		want(t, begin(t, s, "r_2", "two").History(), "user: two")
	})
}

func TestExport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := conversation.NewMemory(1)
		turn := begin(t, s, "r_1", "What is *here*?\n")
		must(t, turn.Say(model.Message{Role: model.Assistant, Calls: []model.ToolCall{{ID: "a", Name: "look", Arguments: `{"x":1}`}}},
			model.Message{Role: model.ToolRole, CallID: "a", Content: "```\ncode\n```"}, assistant("Code.")), turn.End(""))
		var b strings.Builder
		must(t, s.Export(&b, "c_1"))
		const want = "# What is *here*?\n\n## user\n\nWhat is *here*?\n\n## assistant\n\nlook\n\n```\n{\"x\":1}\n```\n\n## tool\n\n" +
			"````\n```\ncode\n```\n````\n\n## assistant\n\nCode.\n"
		if b.String() != want {
			t.Errorf("the export is\n%s", b.String())
		}
	})
}

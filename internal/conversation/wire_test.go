package conversation_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/conversation"
	"github.com/seed889630bf/lastword/messages/model"
)

func system(text string) model.Message { return model.Message{Role: model.System, Content: text} }
func user(text string) model.Message   { return model.Message{Role: model.User, Content: text} }
func result(id, text string) model.Message {
	return model.Message{Role: model.ToolRole, CallID: id, Content: text}
}

func spoken(text, thoughts string, calls ...model.ToolCall) model.Message {
	return model.Message{Role: model.Assistant, Content: text, Thoughts: thoughts, Calls: calls}
}

// thinking is the message with thoughts that came in a member.
func thinking(m model.Message) model.Message {
	m.ThoughtsIn = "reasoning"
	return m
}

func call(id, name, arguments string) model.ToolCall {
	return model.ToolCall{ID: id, Name: name, Arguments: arguments}
}

// lines are the messages in a few words.
func lines(list []model.Message) string {
	var out []string
	for _, m := range list {
		var line strings.Builder
		line.WriteString(string(m.Role) + m.CallID + ":" + strings.ReplaceAll(m.Content, "\n\n", "/"))
		if m.Thoughts != "" {
			line.WriteString(" (" + strings.ReplaceAll(m.Thoughts, "\n\n", "/") + ")")
		}
		for _, c := range m.Calls {
			line.WriteString(" " + c.ID + "=" + c.Name + c.Arguments)
		}
		out = append(out, line.String())
	}
	return strings.Join(out, " | ")
}

func TestWire(t *testing.T) {
	for _, c := range []struct {
		name    string
		profile conversation.Profile
		in      []model.Message
		want    string
	}{
		{"nothing is changed without need", conversation.Profile{}, []model.Message{system("s"), user("u"),
			spoken("look", "", call("a", "f", `{"x":1}`), call("b", "g", `{}`)), result("a", "1"), result("b", "2"),
			spoken("done", "")},
			`system:s | user:u | assistant:look a=f{"x":1} b=g{} | toola:1 | toolb:2 | assistant:done`},
		{"results go in the order of the calls", conversation.Profile{}, []model.Message{user("u"),
			spoken("", "", call("a", "f", `{}`), call("b", "f", `{}`)), result("b", "2"), result("a", "1")},
			`user:u | assistant: a=f{} b=f{} | toola:1 | toolb:2`},
		{"a call without a result gets one", conversation.Profile{}, []model.Message{user("u"),
			spoken("", "", call("a", "f", `{}`)), user("go on")},
			`user:u | assistant: a=f{} | toola:(the call was interrupted: there is no result) | user:go on`},
		{"a result without a call is omitted", conversation.Profile{}, []model.Message{user("u"), result("a", "1"),
			spoken("x", ""), result("b", "2")}, `user:u | assistant:x`},
		{"nothing is empty", conversation.Profile{}, []model.Message{system(" "), user("u"), spoken(" \n", "hm"),
			spoken("\n", "", call("a", "f", ``)), result("a", ""), user("  ")},
			`user:u | assistant: a=f{} | toola:(no output)`},
		{"arguments are an object", conversation.Profile{}, []model.Message{user("u"),
			spoken("", "", call("a", "f", `{"x":`), call("b", "f", `[]`), call("c", "f", ` {}`)),
			result("a", "1"), result("b", "2"), result("c", "3")},
			`user:u | assistant: a=f{} b=f{} c=f {} | toola:1 | toolb:2 | toolc:3`},
		{"names are legal", conversation.Profile{}, []model.Message{user("u"),
			spoken("", "", call("a", "a.b/c", ``), call("b", "", ``)), result("a", "1"), result("b", "2")},
			`user:u | assistant: a=a_b_c{} b=unnamed{} | toola:1 | toolb:2`},
		{"neighbours of one role are merged", conversation.Profile{}, []model.Message{user("a"), user("b"),
			spoken("c", ""), spoken("d", ""), system("s"), system("t")},
			`system:s/t | user:a/b | assistant:c/d`},
		{"the user begins", conversation.Profile{}, []model.Message{spoken("hello", ""), user("u")}, `user:u`},
		{"a text before calls belongs to them", conversation.Profile{}, []model.Message{user("u"), spoken("wait", ""),
			spoken("", "", call("a", "f", ``)), result("a", "1")}, `user:u | assistant:wait a=f{} | toola:1`},
		{"no thoughts", conversation.Profile{}, []model.Message{user("u"), spoken("x", "hm")}, `user:u | assistant:x`},
		{"thoughts of a member", conversation.Profile{}, []model.Message{user("u"), thinking(spoken("x", "one")),
			thinking(spoken("y", "two"))}, `user:u | assistant:x/y (one/two)`},
		{"equal ids are told apart", conversation.Profile{}, []model.Message{user("u"),
			spoken("", "", call("a", "f", ``), call("a", "f", ``)), result("a", "1"), result("a", "2")},
			`user:u | assistant: a=f{} eXZjWJmNg=f{} | toola:1 | tooleXZjWJmNg:2`},
		{"short ids", conversation.Profile{ShortIDs: true}, []model.Message{user("u"),
			spoken("", "", call("call_1", "f", ``), call("abcDEF123", "f", ``)), result("abcDEF123", "2"), result("call_1", "1")},
			`user:u | assistant: hGRsP47ZD=f{} abcDEF123=f{} | toolhGRsP47ZD:1 | toolabcDEF123:2`},
		{"old turns are cut", conversation.Profile{Budget: 80}, []model.Message{system("s"), user("old"),
			spoken("", "", call("a", "f", ``)), result("a", "1"), spoken("x", ""), user("new"), spoken("y", "")},
			`system:s | user:new | assistant:y`},
		{"old results of a turn are cut", conversation.Profile{Budget: 120}, []model.Message{user("old"), spoken("x", ""),
			user("new"), spoken("", "", call("a", "f", ``)), result("a", strings.Repeat("z", 99)),
			spoken("", "", call("b", "f", ``)), result("b", "2")},
			`user:new | assistant: b=f{} | toolb:2`},
		{"the last message of the user stays", conversation.Profile{Budget: 1}, []model.Message{user("old"), spoken("x", ""),
			user("new")}, `user:new`},
	} {
		got := conversation.Wire(c.in, c.profile)
		if lines(got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, lines(got), c.want)
		}
	}
}

// A caller's conversation is not written to.
func TestWireKeepsItsInput(t *testing.T) {
	in := []model.Message{user("a"), user("b"), spoken("", "hm", call("", "a.b", "")), result("", "")}
	before := fmt.Sprintf("%+v", in)
	conversation.Wire(in, conversation.Profile{ShortIDs: true, Budget: 1})
	if after := fmt.Sprintf("%+v", in); after != before {
		t.Errorf("%s became %s", before, after)
	}
}

func TestTail(t *testing.T) {
	in := []model.Message{user("old"), spoken("x", ""), user("new"), spoken("", "", call("a", "f", ``)), result("a", "1"),
		spoken("", "", call("b", "f", ``), call("c", "f", ``)), result("b", "2"), result("c", "3")}
	for bytes, want := range map[int]int{0: 5, conversation.Size(in[5:]): 5, conversation.Size(in[3:]): 3, conversation.Size(in[2:]): 2,
		conversation.Size(in[1:]): 2, conversation.Size(in): 0} {
		if got := conversation.Tail(in, bytes); got != want {
			t.Errorf("the last %d bytes begin at %d, want %d", bytes, got, want)
		}
	}
	if got := conversation.Tail(nil, 1); got != 0 {
		t.Errorf("nothing begins at %d", got)
	}
}

func TestSummarized(t *testing.T) {
	in := []model.Message{user("old"), spoken("x", ""), user("new"), spoken("", "", call("a", "f", ``)), result("a", "1")}
	const pair = "user:Summarize what was said until now. | assistant:[Summary of what was said and done before]/It was old. | "
	for covers, want := range map[int]string{2: "user:new | assistant: a=f | toola:1", 3: "user:new | assistant: a=f | toola:1"} {
		if got := lines(conversation.Summarized(in, "It was old.", covers)); got != pair+want {
			t.Errorf("a summary of %d: %s", covers, got)
		}
	}
}

// FuzzWire holds the promises of Wire for every conversation, one message for each byte.
func FuzzWire(f *testing.F) {
	f.Add([]byte("suactrtau"), byte(0), 0)
	f.Add([]byte("uCrCrruaCu"), byte(1), 90)
	f.Add([]byte("aruUACc"), byte(5), 40)
	f.Fuzz(func(t *testing.T, script []byte, form byte, budget int) {
		p := conversation.Profile{ShortIDs: form%2 == 0, Budget: budget}
		in := scripted(script)
		out := conversation.Wire(in, p)
		legal(t, out, p)
		if again := conversation.Wire(out, p); !reflect.DeepEqual(again, out) {
			t.Fatalf("once  %s\ntwice %s", lines(out), lines(again))
		}
		if want := lastOf(in); want != "" && !strings.HasSuffix(lastOf(out), want) {
			t.Fatalf("the last message of the user is %q, want %q", lastOf(out), want)
		}
		if all := conversation.Wire(in, conversation.Profile{ShortIDs: p.ShortIDs}); budget > 0 &&
			conversation.Size(all) <= budget && len(out) != len(all) {
			t.Fatalf("%s fits, but %s is sent", lines(all), lines(out))
		}
	})
}

func scripted(script []byte) (out []model.Message) {
	ids := []string{"", "a", "b", "call_1", "abcDEF123", "no good"}
	for i, b := range script {
		id := ids[int(b/8)%len(ids)]
		switch b % 8 {
		case 0:
			out = append(out, system(fmt.Sprint("s", i)))
		case 1, 2:
			out = append(out, user(fmt.Sprint("u", i)))
		case 3:
			out = append(out, user(" \n"), spoken(" ", "hm"))
		case 4:
			out = append(out, spoken(fmt.Sprint("a", i), "hm"))
		case 5:
			out = append(out, spoken("", "hm", call(id, "f.g", ""), call("a", "f", `{"x":1}`)))
		case 6:
			out = append(out, result(id, fmt.Sprint("r", i)))
		case 7:
			out = append(out, result(id, ""))
		}
	}
	return out
}

func lastOf(list []model.Message) (text string) {
	for _, m := range list {
		if m.Role == model.User && strings.TrimSpace(m.Content) != "" {
			text = m.Content
		}
	}
	return text
}

var legalID = map[bool]*regexp.Regexp{true: regexp.MustCompile(`^[A-Za-z0-9]{9}$`),
	false: regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)}

func legal(t *testing.T, list []model.Message, p conversation.Profile) {
	t.Helper()
	seen := map[string]bool{}
	var open []string // calls that wait for their results
	before := model.System
	for i, m := range list {
		said := strings.TrimSpace(m.Content) != ""
		ok := len(open) == 0
		switch m.Role {
		case model.System:
			ok = ok && i == 0 && said
		case model.User:
			ok = ok && before != model.User && said
		case model.Assistant:
			ok = ok && before != model.System && before != model.Assistant && (said || len(m.Calls) > 0 && m.Content == "")
		case model.ToolRole:
			ok = len(open) > 0 && open[0] == m.CallID && said
			if ok {
				open = open[1:]
			}
		}
		for _, c := range m.Calls {
			ok = ok && !seen[c.ID] && legalID[p.ShortIDs].MatchString(c.ID) && json.Valid([]byte(c.Arguments)) &&
				regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(c.Name)
			seen[c.ID] = true
			open = append(open, c.ID)
		}
		if !ok || m.Thoughts != "" && m.ThoughtsIn == "" {
			t.Fatalf("message %d is wrong in %s", i, lines(list))
		}
		before = m.Role
	}
	if len(open) > 0 {
		t.Fatalf("calls %v have no result in %s", open, lines(list))
	}
}

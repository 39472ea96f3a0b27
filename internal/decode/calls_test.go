package decode_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/decode"
	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages/model"
	"pgregory.net/rapid"
)

// deltaIn is an element of tool_calls.
func deltaIn(t testing.TB, raw string) decode.CallDelta {
	var d struct {
		Index, ID json.RawMessage
		Function  struct{ Name, Arguments json.RawMessage }
	}
	if err := json.Unmarshal([]byte(raw), &d); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return decode.CallDelta{Index: d.Index, ID: d.ID, Name: d.Function.Name, Arguments: d.Function.Arguments}
}

// joined are the calls that fragments make, each "id name arguments". What was given as it came must be the same.
func joined(t testing.TB, fragments ...string) []string {
	var calls decode.Calls
	given := map[int]*strings.Builder{}
	for _, fragment := range fragments {
		part, ok := calls.Push(deltaIn(t, fragment))
		if !ok && part.Arguments != "" {
			t.Errorf("%s adds nothing but %+v", fragment, part)
		}
		if given[part.Number] == nil {
			given[part.Number] = &strings.Builder{}
		}
		given[part.Number].WriteString(part.Arguments)
	}
	var got []string
	for i, call := range calls.Done() {
		got = append(got, strings.Join([]string{call.ID, call.Name, call.Arguments}, " "))
		if sent := given[i].String(); sent != call.Arguments && sent != "" && !strings.HasSuffix(call.Arguments, "\ufffd") {
			t.Errorf("call %d was given as %q, and is %q", i, sent, call.Arguments)
		}
	}
	return got
}

func TestCalls(t *testing.T) {
	for name, row := range fatal.Table[map[string]struct {
		Fragments []json.RawMessage
		Want      []string
	}](t, "testdata/calls.json") {
		var fragments []string
		for _, f := range row.Fragments {
			fragments = append(fragments, string(f))
		}
		if got := joined(t, fragments...); !slices.Equal(got, row.Want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, row.Want)
		}
	}
}

// Whatever way a server numbers and cuts its calls, they come out as they were.
func TestCallsAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		style := rapid.SampledFrom([]string{"index", "zero", "id", "string", "first"}).Draw(rt, "style")
		object := rapid.Bool().Draw(rt, "object")
		var fragments, want []string
		for i := range rapid.IntRange(1, 4).Draw(rt, "calls") {
			arguments := fmt.Sprintf(`{"n":%d,"s":"%s"}`, i, rapid.SampledFrom([]string{"", "}{", `\"}`, "é🎉"}).Draw(rt, "s"))
			want = append(want, fmt.Sprintf("id%d f%d %s", i, i%2, arguments))
			if object {
				fragments = append(fragments, fragmentOf(style, i, true, arguments))
				continue
			}
			for j, piece := range cuts(arguments, rapid.SliceOf(rapid.Byte()).Draw(rt, "lengths")) {
				literal := `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(piece) + `"`
				fragments = append(fragments, fragmentOf(style, i, j == 0, literal))
			}
		}
		got := joined(rapidTB{t, rt}, fragments...)
		if !reflect.DeepEqual(got, want) {
			rt.Fatalf("%s %q:\n got %q\nwant %q", style, fragments, got, want)
		}
	})
}

func fragmentOf(style string, i int, begins bool, arguments string) string {
	index := map[string]string{
		"index": fmt.Sprint(i), "zero": "0", "id": "null", "string": fmt.Sprintf(`"%d"`, i), "first": "0",
	}[style]
	id, name := "null", `""`
	if begins || style == "id" {
		id = fmt.Sprintf(`"id%d"`, i)
	}
	if begins || style == "zero" {
		name = fmt.Sprintf(`"f%d"`, i%2)
	}
	return fmt.Sprintf(`{"index":%s,"id":%s,"function":{"name":%s,"arguments":%s}}`, index, id, name, arguments)
}

func TestCallDelta(t *testing.T) {
	var calls decode.Calls
	push := func(raw string) string {
		part, ok := calls.Push(deltaIn(t, raw))
		return fmt.Sprint(part, ok)
	}
	for _, step := range [][2]string{
		{`{"index":0,"function":{"name":"f"}}`, fmt.Sprint(model.CallDelta{Name: "f"}, true)},
		{`{"index":0,"function":{"name":"f"}}`, fmt.Sprint(model.CallDelta{Name: "f"}, false)},
		{`{"index":0,"id":"a"}`, fmt.Sprint(model.CallDelta{ID: "a", Name: "f"}, true)},
		{`{"index":0,"function":{"arguments":"{"}}`, fmt.Sprint(model.CallDelta{ID: "a", Name: "f", Arguments: "{"}, true)},
		{`{"index":3,"id":"b","function":{"name":"g"}}`, fmt.Sprint(model.CallDelta{Number: 1, ID: "b", Name: "g"}, true)},
	} {
		if got := push(step[0]); got != step[1] {
			t.Errorf("%s: %s, want %s", step[0], got, step[1])
		}
	}
}

// Contract, section 7: "Decoders, each ... equal under any chunking". The fragments of calls with an index each come in any
// order that keeps the order within a call; ids may be the same, and names come in pieces.
func TestCallsInterleaved(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		same := rapid.Bool().Draw(rt, "one id for all")
		var want []string
		var queues [][]string
		for i := range rapid.IntRange(1, 4).Draw(rt, "calls") {
			id := fmt.Sprintf("id%d", i)
			if same {
				id = "id" + strings.Repeat("_", i)
			}
			name, arguments := fmt.Sprintf("tool%d", i%2), fmt.Sprintf(`{"n":%d}`, i)
			want = append(want, strings.Join([]string{id, name, arguments}, " "))
			queue := []string{fmt.Sprintf(`{"index":%d,"id":%q}`, i, strings.TrimRight(id, "_"))}
			for _, piece := range cuts(name, rapid.SliceOf(rapid.Byte()).Draw(rt, "name")) {
				queue = append(queue, fmt.Sprintf(`{"index":%d,"function":{"name":%q}}`, i, piece))
			}
			for _, piece := range cuts(arguments, rapid.SliceOf(rapid.Byte()).Draw(rt, "arguments")) {
				queue = append(queue, fmt.Sprintf(`{"index":%d,"function":{"arguments":%q}}`, i, piece))
			}
			queues = append(queues, queue)
		}
		fragments := make([]string, 0, 64)
		for i := range queues { // the first fragments come in order, which is the order of the calls
			fragments, queues[i] = append(fragments, queues[i][0]), queues[i][1:]
		}
		for slices.ContainsFunc(queues, func(q []string) bool { return len(q) > 0 }) {
			if i := rapid.IntRange(0, len(queues)-1).Draw(rt, "next"); len(queues[i]) > 0 {
				fragments, queues[i] = append(fragments, queues[i][0]), queues[i][1:]
			}
		}
		if got := joined(rapidTB{t, rt}, fragments...); !reflect.DeepEqual(got, want) {
			rt.Fatalf("%q:\n got %q\nwant %q", fragments, got, want)
		}
	})
}

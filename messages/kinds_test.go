package messages_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// texts calls do for every string and raw JSON that v holds, however deep; do may set it. It goes through lists,
// pointers, maps and the parts of merged events.
func texts(path string, v reflect.Value, do func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.String:
		do(path, v)
	case reflect.Struct:
		for i := range v.NumField() {
			texts(path+"."+v.Type().Field(i).Name, v.Field(i), do)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			texts(path, v.Elem(), do)
		}
	case reflect.Interface:
		part := variable(v.Interface())
		texts(path+"("+part.Type().Name()+")", part, do)
		v.Set(part)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			do(path, v)
			return
		}
		for i := range v.Len() {
			texts(path+"[]", v.Index(i), do)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			k, e := variable(key.Interface()), variable(v.MapIndex(key).Interface())
			texts(path+"[key]", k, do)
			texts(path+"[]", e, do)
			v.SetMapIndex(key, reflect.Value{})
			v.SetMapIndex(k, e)
		}
	}
}

// variable returns a copy of x that can be set.
func variable(x any) reflect.Value {
	v := reflect.New(reflect.TypeOf(x)).Elem()
	v.Set(reflect.ValueOf(x))
	return v
}

// filled are the samples, and those of the kinds that are not in the table or hold more than their samples.
func filled() []messages.Body {
	list := append(samples(), messages.Unknown{Type: "moon.rose", Payload: json.RawMessage(`"full"`)})
	for _, b := range samples() {
		if c, ok := b.(messages.RunCanceled); ok {
			c.Rewind = samples()[5].(messages.RunRecovered).Rewind
			list = append(list, c)
		}
	}
	return list
}

// "one event is at most 16 MiB and every byte counts": whatever grows by n bytes, Size grows by n at least.
func TestSizeCountsEveryByte(t *testing.T) {
	const n = 10_000
	for _, sample := range filled() {
		count := 0
		texts("", variable(sample), func(string, reflect.Value) { count++ })
		if count == 0 {
			t.Errorf("%T has nothing to grow", sample)
		}
		before := next(0, sample).Size()
		for i := range count {
			at, grown := 0, ""
			v := variable(messages.Clone(sample))
			texts(v.Type().Name(), v, func(path string, v reflect.Value) {
				if at++; at-1 != i {
					return
				}
				grown = path
				if v.Kind() == reflect.String {
					v.SetString(v.String() + strings.Repeat("x", n))
				} else {
					v.SetBytes(append(slices.Clone(v.Bytes()), make([]byte, n)...))
				}
			})
			if after := next(0, v.Interface().(messages.Body)).Size(); after < before+n || after > before+3*n {
				t.Errorf("%s grew by %d bytes, the size from %d to %d", grown, n, before, after)
			}
		}
	}
	e := next(0, messages.RunStarted{})
	if small := e.Size(); small < 100 || small > 1000 {
		t.Errorf("an empty event counts %d", small)
	}
	loud := e
	loud.Message, loud.RunID = strings.Repeat("x", n), messages.RunID(strings.Repeat("r", n))
	if loud.Size() < e.Size()+2*n-len(e.RunID) {
		t.Errorf("the envelope grew by %d", loud.Size()-e.Size())
	}
}

// "bodies, labels, inputs and raw JSON are copied at the edge": no memory of the body is the clone's.
func TestClonesShareNoMemory(t *testing.T) {
	for _, sample := range filled() {
		clone := messages.Clone(sample)
		if !reflect.DeepEqual(clone, sample) {
			t.Errorf("the clone of %#v is %#v", sample, clone)
		}
		held := map[uintptr]bool{}
		memory(reflect.ValueOf(sample), func(p uintptr) { held[p] = true })
		memory(reflect.ValueOf(clone), func(p uintptr) {
			if held[p] {
				t.Errorf("the clone of a %s has memory of its source", messages.KindOf(sample))
			}
		})
	}
	if b := messages.Clone(messages.RunQueued{}).(messages.RunQueued); b.Labels != nil || b.Input != nil {
		t.Errorf("the clone of nothing is %v", b)
	}
}

// memory calls do for every list, map and pointer in v.
func memory(v reflect.Value, do func(uintptr)) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			memory(field, do)
		}
	case reflect.Interface:
		memory(v.Elem(), do)
	case reflect.Map:
		if !v.IsNil() {
			do(v.Pointer())
		}
	case reflect.Pointer:
		if !v.IsNil() {
			do(v.Pointer())
			memory(v.Elem(), do)
		}
	case reflect.Slice:
		if v.Len() == 0 {
			return
		}
		do(v.Pointer())
		for i := range v.Len() {
			memory(v.Index(i), do)
		}
	}
}

// "numbers, offsets, owner and principal are the run's alone": what a task says names the task, and only that changes.
func TestOwnedNamesTheTask(t *testing.T) {
	for _, sample := range filled() {
		before := asJSON(t, next(0, sample))
		owned := variable(messages.Owned(sample, "me"))
		same(t, "the source", next(0, sample), json.RawMessage(before))
		want := variable(messages.Clone(sample))
		texts("", want, func(path string, v reflect.Value) {
			if strings.HasSuffix(path, ".Task") && !strings.Contains(path, ".Rewind") {
				v.SetString("me")
			}
		})
		if !reflect.DeepEqual(owned.Interface(), want.Interface()) {
			t.Errorf("owned, it is\n%#v\nwant\n%#v", owned, want)
		}
	}
}

// "what it may say is an allow-list".
func TestTasksMaySay(t *testing.T) {
	may := []string{"text.", "thought.", "progress", "log", "llm.", "tool.", "artifact.", "step.", "notice", "usage"}
	for _, k := range messages.Kinds() {
		want := slices.ContainsFunc(may, func(prefix string) bool { return strings.HasPrefix(string(k.Kind), prefix) }) &&
			k.Kind != messages.KindStepKept // through actors.Do
		if k.Kind.TaskMaySay() != want {
			t.Errorf("a task may say %s: %t", k.Kind, !want)
		}
	}
	if messages.Kind("text.rose").TaskMaySay() || messages.Kind("").TaskMaySay() {
		t.Error("a task may say what nobody knows")
	}
}

// State has of a request what a door shows, and of a secret all but its value.
func TestStateHasRequests(t *testing.T) {
	s := fold(t, messages.State{}, logOf(messages.RunQueued{Job: "chat"}, messages.RunStarted{},
		messages.InputRequired{Request: "q", InputKind: messages.InputReview, TimeoutMS: 7},
		messages.InputReceived{Request: "q", ID: "c1", Value: json.RawMessage(`1`)},
		messages.InputRequired{Request: "k", InputKind: messages.InputSecret},
		messages.InputReceived{Request: "k", ID: "c2", Value: json.RawMessage(`null`)})...)
	at := func(seq uint64) time.Time { return next(seq-1, messages.RunStarted{}).Time }
	same(t, "the requests", s.Inputs, []messages.Input{
		{Request: "q", Kind: messages.InputReview, TimeoutMS: 7, ID: "c1", Value: json.RawMessage(`1`), Closed: true,
			AskedAt: at(3), AnsweredAt: at(4)},
		{Request: "k", Kind: messages.InputSecret, ID: "c2", Closed: true, AskedAt: at(5), AnsweredAt: at(6)}})
}

// The wire form of an event that many readers write is made once, and none of them can spoil it for the others.
func TestWireFormIsMadeOnce(t *testing.T) {
	e := next(4, messages.RunStarted{Node: "n1"})
	want := asJSON(t, e)
	var slot messages.Wire
	shared := e.Sharing(&slot)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			line, err := shared.JSON()
			if line = append(line, '\n'); err != nil || string(line) != want+"\n" {
				t.Errorf("%s %v", line, err)
			}
		})
	}
	all.Wait()
	if n := testing.AllocsPerRun(100, func() { _, _ = shared.MarshalJSON() }); n > 0 {
		t.Errorf("made again with %.0f allocations", n)
	}
	same(t, "marshalled", shared, json.RawMessage(want))
	other := shared.Unshared()
	other.Seq, other.From = 9, 9
	if line, err := other.JSON(); err != nil || !strings.Contains(string(line), `"seq":9`) {
		t.Errorf("unshared and changed: %s %v", line, err)
	}
	kept, line := messages.Event{}, []byte(want)
	must(t, kept.UnmarshalKept(line))
	if got, err := kept.JSON(); err != nil || &got[0] != &line[0] {
		t.Errorf("a line that was kept is made again: %s %v", got, err)
	}
	bad := next(0, messages.Unknown{Type: "moon.rose", Payload: json.RawMessage(`{`)}).Sharing(new(messages.Wire))
	for range 2 {
		if line, err := bad.JSON(); err == nil {
			t.Errorf("no JSON became %s", line)
		}
	}
	rest, ok := messages.Filter{Kinds: []messages.Kind{messages.KindLog}}.Select(sharedMerged(t))
	if line, err := rest.JSON(); !ok || err != nil || strings.Contains(string(line), "progress") {
		t.Errorf("the filter leaves %s %v", line, err)
	}
}

func sharedMerged(t *testing.T) messages.Event {
	t.Helper()
	e := next(0, messages.Merged{Parts: []messages.Body{messages.Progress{Done: 1}, lines(1, "x")}}).Sharing(new(messages.Wire))
	_, err := e.JSON()
	must(t, err)
	return e
}

// A trace that W3C Trace Context calls invalid is none, and what is given on has the caller's flags and tracestate.
func TestTraces(t *testing.T) {
	const trace, caller, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7", "53995c3f42cd8ad8"
	for text, want := range map[string]string{
		"00-" + trace + "-" + caller + "-00":                  "00-" + trace + "-" + span + "-00",
		"00-" + trace + "-" + caller + "-01":                  "00-" + trace + "-" + span + "-01",
		"01-" + trace + "-" + caller + "-03-more":             "00-" + trace + "-" + span + "-03",
		"00-" + trace + "-" + caller + "-01-more":             "",
		"ff-" + trace + "-" + caller + "-01":                  "",
		"00-" + strings.ToUpper(trace) + "-" + caller + "-01": "",
		"00-" + trace + "-" + strings.Repeat("0", 16) + "-01": "",
		"00-" + trace + "-" + caller + "-1":                   "",
		"00-" + trace + "-" + caller:                          "",
		"":                                                    "",
	} {
		for state, kept := range map[string]string{"a=1,b=2": "a=1,b=2", "a=\n": "", strings.Repeat("a", 513): ""} {
			got := messages.ReadTrace(func(name string) string {
				return map[string]string{messages.TraceLabel: text, messages.TraceStateLabel: state}[name]
			}).Below(span)
			if want == "" {
				kept = ""
			}
			if got.Parent != want || got.State != kept || want != "" && got.Sampled() == strings.HasSuffix(want, "0") {
				t.Errorf("%q with %q is given on as %+v, want %q", text, state, got, want)
			}
		}
	}
}

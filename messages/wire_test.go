package messages_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

func TestEveryKindHasASample(t *testing.T) {
	for i, k := range messages.Kinds() {
		b := samples()[i]
		if messages.KindOf(b) != k.Kind || reflect.TypeOf(b) != reflect.TypeOf(k.Zero) {
			t.Errorf("row %d of the table is %s (%T), its sample %s (%T)", i, k.Kind, k.Zero, messages.KindOf(b), b)
		}
		if k.Kind.Level() != k.Level || !k.Kind.Known() {
			t.Errorf("%s is a %s in the table, else a %s, known %t", k.Kind, k.Level, k.Kind.Level(), k.Kind.Known())
		}
	}
	if n := len(samples()); n != len(messages.Kinds()) {
		t.Errorf("%d samples for %d kinds", n, len(messages.Kinds()))
	}
}

func TestGolden(t *testing.T) {
	for _, e := range sampleEvents() {
		t.Run(string(e.Kind()), func(t *testing.T) {
			line, err := e.MarshalJSON()
			must(t, err)
			golden(t, filepath.Join("testdata", "golden", string(e.Kind())+".json"), append(line, '\n'))
			if again := asJSON(t, e); again != string(line) {
				t.Errorf("json.Marshal gives other bytes:\n%s\n%s", again, line)
			}
			var back messages.Event
			must(t, json.Unmarshal(line, &back))
			if !reflect.DeepEqual(back, e) {
				t.Errorf("decoding gave\n%#v\nwant\n%#v", back, e)
			}
		})
	}
}

func TestRoundTripOfLegalLogs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		log := legal(t).log
		back := make([]messages.Event, len(log))
		for i, e := range log {
			if err := json.Unmarshal([]byte(asJSON(t, e)), &back[i]); err != nil {
				t.Fatalf("%v", err)
			}
		}
		same(t, "the log", back, log)
		same(t, "its state", fold(t, messages.State{}, back...), fold(t, messages.State{}, log...))
	})
}

// An event with a long input has the bytes that encoding/json would write.
func TestLongInput(t *testing.T) {
	for _, input := range []string{`{"text":"` + strings.Repeat(`\n\"input\":0 \u003c`, 5000) + `"}`, "[\n" + strings.Repeat("1, ", 50_000) + "1]", "[\r" + strings.Repeat("1, ", 50_000) + "1]"} {
		body := messages.RunQueued{Job: "j", Title: `"input":0`, Input: json.RawMessage(input), Labels: map[string]string{"input": "0"}}
		want, err := json.Marshal(body)
		must(t, err)
		line := asJSON(t, messages.Event{RunID: runID, Seq: 1, From: 1, Body: body})
		if _, payload, _ := strings.Cut(line, `"payload":`); payload != string(want)+"}" {
			t.Errorf("the payload is %.200s, want %.200s", payload, want)
		}
	}
}

func TestUnknownKindsKeepTheirBytes(t *testing.T) {
	for _, payload := range []string{
		`{"b":1,"a":[1.0,1e3,null],"s":"<&>\u00fc…"}`, `{ "spaced" : true }`, `[]`, `"text"`, `0`, `null`, ``,
	} {
		line := `{"run_id":"` + string(runID) + `","seq":3,"ts":"2026-11-20T20:00:00Z","type":"moon.rose"`
		if payload != "" {
			line += `,"payload":` + payload
		}
		line += "}"
		var e messages.Event
		must(t, json.Unmarshal([]byte(line), &e))
		back, err := e.MarshalJSON()
		if err != nil || string(back) != line {
			t.Errorf("%s\ncame back as\n%s (%v)", line, back, err)
		}
		if e.IsDelta() || e.IsTerminal() || e.Kind().Known() {
			t.Errorf("%s is delta %t, terminal %t, known %t", e.Kind(), e.IsDelta(), e.IsTerminal(), e.Kind().Known())
		}
		before := fold(t, messages.State{}, logOf(samples()[0], messages.RunStarted{})...)
		after := fold(t, before, e)
		before.Seq, before.UpdatedAt, before.Milestone = after.Seq, after.UpdatedAt, after.Milestone
		same(t, "an unknown kind changes nothing", after, before)
	}
}

func TestTimesAreUTC(t *testing.T) {
	e := next(0, samples()[0])
	e.Time = e.Time.In(time.FixedZone("far", 5*3600+1800))
	line := asJSON(t, e)
	if !strings.Contains(line, `"ts":"2026-11-20T20:00:00.124456Z"`) {
		t.Errorf("written as %s", line)
	}
	var back messages.Event
	far := strings.Replace(line, "2026-11-20T20:00:00.124456Z", "2026-11-21T01:30:00.124456+05:30", 1)
	must(t, json.Unmarshal([]byte(far), &back))
	if back.Time.Location() != time.UTC || !back.Time.Equal(e.Time) {
		t.Errorf("%v was read as %v", e.Time, back.Time)
	}
}

// The lines of the contract, with the parts it leaves out filled in.
func TestContractLinesDecode(t *testing.T) {
	page := strings.NewReplacer("r_4kq…", string(runID), "…", "2026-11-20T20:00:01Z").Replace(
		`{"run_id":"r_4kq…","seq":7,"ts":"2026-11-20T20:00:00.123456Z","type":"text.delta","payload":{"stream":"answer","index":0,"offset":0,"text":"Hel"}}
{"run_id":"r_4kq…","seq":8,"ts":"…","type":"task.failed","message":"analyze crashed: nil map","payload":{"task":"analyze","attempt":1,"cause":"panic","error":{"code":"panic","message":"…","stack":"…"},"will_retry":false}}
{"run_id":"r_4kq…","seq":9,"ts":"…","type":"artifact.written","payload":{"name":"llms.txt","path":"…","bytes":6710,"sha256":"…","partial":false}}
{"run_id":"r_4kq…","seq":42,"from":10,"ts":"…","type":"text.delta","payload":{"stream":"answer","index":1,"count":33,"offset":3,"text":"lo, merged for a slow reader"}}
{"run_id":"r_4kq…","seq":43,"ts":"…","type":"run.failed","message":"the model's connection closed after 12 tokens","payload":{"by":"run","cause":"transport_closed","task":"analyze","error":{"code":"transport_closed","message":"…","retryable":true},"artifacts":[]}}`)
	s := fold(t, messages.State{}, logOf(samples()[0], messages.RunStarted{}, messages.TaskStarted{Task: "analyze", Attempt: 1},
		messages.StepStarted{Step: "s"}, messages.StepEnded{Step: "s"}, messages.FaultInjected{})...)
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		var e messages.Event
		must(t, json.Unmarshal([]byte(line), &e))
		if back := asJSON(t, e); back != line {
			t.Errorf("%s\ncame back as\n%s", line, back)
		}
		s = fold(t, s, e)
	}
	if text, _ := s.Stream("answer"); s.Status != messages.Failed || text.Text() != "Hello, merged for a slow reader" || text.Index != 34 {
		t.Errorf("the lines add up to %s", asJSON(t, s))
	}
}

func TestWhatIsNoEventIsRefused(t *testing.T) {
	for _, row := range fatal.Rows(t, "testdata/no_events.txt") {
		name, line := row[0], row[1]
		var e messages.Event
		if err := json.Unmarshal([]byte(line), &e); err == nil {
			t.Errorf("%s was read as %#v", name, e)
		}
		if err := e.UnmarshalJSON([]byte(line)); messages.CodeOf(err) != "invalid_input" {
			t.Errorf("%s: %v has code %q", name, err, messages.CodeOf(err))
		}
	}
	for name, e := range map[string]messages.Event{
		"no body":               {RunID: runID, Seq: 1, From: 1},
		"an unknown of no JSON": next(0, messages.Unknown{Type: "moon.rose", Payload: json.RawMessage(`{"a":`)}),
		"a part of no JSON":     next(0, messages.Merged{Parts: []messages.Body{messages.Unknown{Type: "x", Payload: json.RawMessage(`{`)}}}),
		"a result of no JSON":   next(0, messages.RunCompleted{Result: json.RawMessage(`{`)}),
	} {
		if line, err := e.MarshalJSON(); err == nil {
			t.Errorf("%s was written as %s", name, line)
		}
	}
}

// A terminal always says its artifacts, even when there are none.
func TestTerminalsListArtifacts(t *testing.T) {
	for _, b := range []messages.Body{messages.RunCompleted{}, messages.RunFailed{}, messages.RunCanceled{}} {
		if line := asJSON(t, next(0, b)); !strings.Contains(line, `"artifacts":[]`) {
			t.Errorf("%s", line)
		}
	}
}

func TestRunIDs(t *testing.T) {
	a, b := messages.NewRunID(), messages.NewRunID()
	if a == b || len(a) != 28 || !bytes.HasPrefix([]byte(a), []byte("r_")) || strings.ToLower(string(a)) != string(a) {
		t.Errorf("ids %s and %s", a, b)
	}
}

func TestErrorsSpeakByCode(t *testing.T) {
	err := messages.Errorf(messages.CodeConflict, "key %s", "k")
	wrapped := error(&wrap{err})
	switch {
	case messages.CodeOf(wrapped) != messages.CodeConflict || messages.CodeOf(nil) != "":
		t.Errorf("code of %v is %q", wrapped, messages.CodeOf(wrapped))
	case !err.Is(&messages.Error{Code: messages.CodeConflict}) || err.Is(&messages.Error{Code: messages.CodeReset}):
		t.Error("Is compares codes")
	case err.Error() != "key k":
		t.Errorf("%v", err)
	}
	if messages.Milestone.String() != "milestone" || messages.Delta.String() != "delta" {
		t.Error("levels have names")
	}
}

type wrap struct{ error }

func (w *wrap) Unwrap() error { return w.error }

// A line reads the same whether its fields are in the order in which they are written or not, however it is damaged.
func TestReadsAnyOrder(t *testing.T) {
	for at, e := range sampleEvents() {
		line, err := e.MarshalJSON()
		must(t, err)
		agree(t, line)
		for i := range min(len(line), 250) {
			agree(t, line[:i])
			const wrong = "\"\\,}{0x\xff\x00 "
			for n := range 2 { // of all kinds of events together each place gets each wrong byte
				damaged := bytes.Clone(line)
				damaged[i] = wrong[(i+2*at+n)%len(wrong)]
				agree(t, damaged)
			}
		}
	}
}

// agree reads the line as it is, and with a space that no writer of this package puts there.
func agree(t *testing.T, line []byte) {
	t.Helper()
	if !bytes.HasPrefix(line, []byte("{\"")) {
		return
	}
	var own, any messages.Event
	failed, anyFailed := own.UnmarshalJSON(line), any.UnmarshalJSON(slices.Concat([]byte("{ "), line[1:]))
	if (failed == nil) != (anyFailed == nil) || !reflect.DeepEqual(own, any) {
		t.Fatalf("%s\nreads as %+v (%v)\nand with a space as %+v (%v)", line, own, failed, any, anyFailed)
	}
}

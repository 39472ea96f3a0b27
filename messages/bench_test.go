package messages_test

import (
	"encoding/json"
	"testing"

	"github.com/seed889630bf/lastword/messages"
)

func tokens(n int) []messages.Event {
	log := logOf(messages.RunQueued{Job: "prompt"}, messages.RunStarted{})
	const token = "token "
	for i := range n {
		log = append(log, next(uint64(i+2), messages.TextDelta{Stream: "answer", Index: uint64(i), Offset: i * len(token), Text: token}))
	}
	return log
}

func BenchmarkApplyToken(b *testing.B) {
	const n = 10_000
	log := tokens(n)
	b.ReportAllocs()
	var s messages.State
	i := 0
	for b.Loop() {
		if i == len(log) {
			s, i = messages.State{}, 0
		}
		var err error
		if s, err = s.Apply(log[i]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkFoldToken(b *testing.B) {
	log := tokens(10_000)
	b.ReportAllocs()
	var f messages.Fold
	i := 0
	for b.Loop() {
		if i == len(log) {
			f, i = messages.Fold{}, 0
		}
		if err := f.Apply(log[i]); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkMerge10k(b *testing.B) {
	deltas := tokens(10_000)[2:]
	b.ReportAllocs()
	for b.Loop() {
		if e := messages.Merge(deltas); e.Seq != 10_002 {
			b.Fatal(e.Seq)
		}
	}
}

func BenchmarkMarshal(b *testing.B) {
	e := tokens(1)[2]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.MarshalJSON(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnmarshal(b *testing.B) {
	line, err := tokens(1)[2].MarshalJSON()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		var e messages.Event
		if err := json.Unmarshal(line, &e); err != nil {
			b.Fatal(err)
		}
	}
}

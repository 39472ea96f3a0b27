package actors_test

import (
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

func BenchmarkSeal(b *testing.B) {
	e := messages.Event{RunID: "r_4kqxv2m5zj7ay3hd6tnwbfeu2c", Seq: 7, From: 7, Time: time.Now(), Body: messages.TextDelta{Stream: "write", Task: "write", Text: strings.Repeat("word ", 120)}}
	line, _ := e.JSON()
	block := journal.StoredBlock{First: 7, Last: 7, Writer: "test", Lines: [][]byte{line}}
	events := []messages.Event{e}
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		block.Seal(journal.Hash{}, events)
	}
}

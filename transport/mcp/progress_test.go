package mcp

import (
	"testing"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
)

// Heartbeats lie behind what the client has, and none comes after the end.
func TestHeartbeatsKnowWhereTheyAre(t *testing.T) {
	var told []float64
	d := door.New(door.Config{Heartbeat: time.Hour})
	p := newProgress(d, []byte(`"tok"`), func(_, _ string, params any) error {
		told = append(told, params.(progressParams).Progress)
		return nil
	}, 7)
	p.beat()
	p.event(messages.Event{Seq: 8}, "")
	p.beat()
	p.beat()
	p.stop()
	p.event(messages.Event{Seq: 9}, "")
	p.stop()
	if len(told) != 4 || told[0] <= 7 || told[0] >= 8 || told[2] <= 8 || told[3] <= told[2] || told[3] >= 9 {
		t.Errorf("told are %v", told)
	}
}

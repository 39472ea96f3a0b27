package mcp_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed889630bf/lastword/transport/mcp"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// Resources are read a few at a time, and what they hold is bounded until their clients have it. Short ones always
// pass.
func TestReadingIsBounded(t *testing.T) {
	s, _ := doorTo(t, mcp.Config{}, nil)
	entered, release := make(chan *wire.Exchange, 64), make(chan struct{})
	var inside atomic.Int32
	texts := func(read func(ctx context.Context) string) func(context.Context, string) (mcp.Contents, error) {
		return func(ctx context.Context, _ string) (mcp.Contents, error) { return mcp.Contents{Text: read(ctx)}, nil }
	}
	for scheme, read := range map[string]func(ctx context.Context) string{
		"slow": func(ctx context.Context) string {
			if n := inside.Add(1); n > 16 {
				t.Errorf("%d are read at a time", n)
			}
			defer inside.Add(-1)
			entered <- wire.From(ctx)
			<-release
			return "slow"
		},
		"short": func(context.Context) string { return "short" },
		"long":  func(context.Context) string { return strings.Repeat("x", 100<<10) },
	} {
		must(t, s.AddResource(mcp.Resource{Template: scheme + "://{x}", Name: scheme}, texts(read)))
	}
	c := dial(t, s, modernHTTP)
	ask := func(uri string) *exchange { return c.start("resources/read", map[string]any{"uri": uri}) }
	var slow []*exchange
	for range 15 {
		slow = append(slow, ask("slow://x"))
	}
	var last *wire.Exchange
	for range 15 {
		last = <-entered
	}
	if !last.Hold(256<<20 - 1<<10) {
		t.Fatal("there is no room")
	}
	if m := ask("long://x").response(); m.Error == nil || !strings.Contains(m.Error.Message, "try again") ||
		!strings.Contains(string(m.Error.Data), "limit_exceeded") {
		t.Errorf("%+v", m)
	}
	if m := ask("short://x").response(); m.Error != nil {
		t.Errorf("%+v", m.Error)
	}
	for range 40 {
		slow = append(slow, ask("slow://x"))
	}
	for range 40 { // which are no resources: time for too many to be read
		c.do("tools/list", nil)
	}
	close(release)
	for _, x := range slow {
		if m := x.response(); m.Error != nil {
			t.Errorf("%+v", m.Error)
		}
	}
	for ask("long://x").response().Error != nil { // until the room is known to be free
	}
}

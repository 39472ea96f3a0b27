//go:build linux

package command_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/messages"
)

// Of an endless output the log keeps the end, and says what it dropped. Anyone who reads along has all of it.
func TestLongOutputIsDroppedFromItsBeginning(t *testing.T) {
	var want strings.Builder
	for i := range 300_000 {
		want.WriteString(strconv.Itoa(i+1) + "\n")
	}
	const room = 256 << 10
	var raw bytes.Buffer
	n := start(t, command.Command{Command: []string{"seq", "300000"}, MaxOutput: room}, command.Config{Stdout: &raw})
	id, at := n.submit(""), 0
	s := n.follow(id, func(_ messages.State, e messages.Event) {
		if b, ok := e.Body.(messages.TextClosed); ok && !b.Dropped {
			if part := want.String()[at : at+b.Bytes]; messages.Digest(part) != b.SHA256 {
				t.Errorf("%s is not the text from %d on", b.Stream, at)
			}
			at += b.Bytes
		}
	})
	if s.Status != messages.Completed || raw.String() != want.String() || at != want.Len() {
		t.Fatalf("%s: %d of %d bytes were written, and %d are told", s.Status, raw.Len(), want.Len(), at)
	}
	kept := output(s)
	if len(kept) > room || len(kept) < room/2 || !strings.HasSuffix(want.String(), kept) {
		t.Errorf("%d bytes are kept, and end with %q", len(kept), kept[max(0, len(kept)-20):])
	}
	dropped, size := 0, 0
	for _, text := range s.Streams {
		dropped += text.Dropped
	}
	late := n.follow(id, func(_ messages.State, e messages.Event) { size += e.Size() })
	if dropped+len(kept) != want.Len() || output(late) != kept || size > 2*room {
		t.Errorf("%d bytes are dropped and %d kept of %d; a late reader gets %d for %d", dropped, len(kept), want.Len(), size, len(output(late)))
	}
}

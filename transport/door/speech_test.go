package door_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/transcript"
)

// A client that can only append is told answers whole, one after the other, and is told where one was taken back.
func TestSpeech(t *testing.T) {
	const a, b = `text.delta {"stream":"answer.1","task":"one","offset":%d,"text":%q}`, `text.delta {"stream":"answer.2","task":"two","offset":%d,"text":%q}`
	say := fmt.Sprintf
	for want, bodies := range map[string][]string{
		"ab|cd|\n\nxyz": { // both grow; the second waits for the end of the first
			say(a, 0, "ab"), say(b, 0, "x"), say(a, 2, "cd"), say(b, 1, "y"), `task.completed {"task":"one"}`, say(b, 2, "z")},
		"ab|\n\nx|y": { // nobody finishes the first, but its task says another text
			say(a, 0, "ab"), strings.Replace(say(b, 0, "x"), "two", "one", 1), strings.Replace(say(b, 1, "y"), "two", "one", 1)},
		"ab|c|d": { // an attempt says the same again
			say(a, 0, "ab"), say(a, 2, "c"), `task.restarted {"task":"one","attempt":2}`, say(a, 0, "a"), say(a, 1, "bcd")},
		"ab|ANEW ad": { // or something else
			say(a, 0, "ab"), `task.restarted {"task":"one","attempt":2}`, say(a, 0, "a"), say(a, 1, "d")},
		`["told"]`: {`text.delta {"stream":"notes","text":"no answer"}`, `run.completed {"result":["told"]}`},
	} {
		var speech door.Speech
		var said []string
		note := func(piece string, anew bool) {
			if anew {
				piece = "ANEW " + piece
			}
			if piece != "" {
				said = append(said, piece)
			}
		}
		take := func(_ struct{}, op *transcript.Op) {
			if op.Do == transcript.End {
				note(speech.Rest(op))
				return
			}
			note(speech.Take(op))
		}
		d := transcript.Dialect[struct{}]{Table: transcript.Each(take), Rewind: take}
		player := d.Player(struct{}{})
		for i, body := range append([]string{`run.queued {"job":"j"}`}, bodies...) {
			kind, payload, _ := strings.Cut(body, " ")
			var e messages.Event
			line := fmt.Sprintf(`{"run_id":"r","seq":%d,"ts":"2026-11-20T20:00:00Z","type":%q,"payload":%s}`, i+1, kind, payload)
			must(t, json.Unmarshal([]byte(line), &e))
			player.Play(e)
		}
		if got := strings.Join(said, "|"); got != want {
			t.Errorf("said %q, want %q", got, want)
		}
	}
}

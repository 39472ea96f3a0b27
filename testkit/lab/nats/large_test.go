package nats_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/nats"
)

// proven checks the run's blocks, and returns how many there are.
func proven(t *testing.T, r journal.Reader, run messages.RunID) (n int) {
	t.Helper()
	var at journal.Chain
	for b, err := range r.Blocks(t.Context(), run) {
		if err == nil {
			at, _, err = b.Check(at)
		}
		if err != nil {
			t.Errorf("the block past %d: %v", at.Seq, err)
			return n
		}
		n++
	}
	return n
}

// listed returns the one run of ann that a journal lists.
func listed(t *testing.T, j *nats.Journal) messages.Summary {
	t.Helper()
	list, err := j.List(t.Context(), messages.Query{Principal: "ann"})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d runs are listed (%v)", len(list), err)
	}
	return list[0]
}

// "sub-runs 58 deep pass its limits": a thousand deep has an id of 6 kB, longer than a subject may be.
func TestDeepRun(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		a, b := open(t, s), open(t, s)
		run := messages.RunID("r_4kqxv2m5zj7ay3hd6tnwbfeu2c" + strings.Repeat(".c1234", 1000))
		told := make(chan journal.Note, 100)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() { _ = b.Watch(ctx, "b", func(n journal.Note) { told <- n }) }()
		hears := func(what string, is func(journal.Note) bool) {
			t.Helper()
			for {
				select {
				case n := <-told:
					if is(n) {
						return
					}
				case <-ctx.Done():
					t.Fatalf("not told of %s", what)
				}
			}
		}
		hears("the beginning", func(n journal.Note) bool { return n == journal.Note{} })
		must(t, a, block(run, 0, 1, queued))
		hears("the run", func(n journal.Note) bool { return n.Run == run })
		if err := a.Send(ctx, journal.Command{Run: run, ID: "1", Attach: true}); err != nil {
			t.Error(err)
		}
		hears("the command", func(n journal.Note) bool { return n.Run == run && n.Command != nil })
		if c, err := b.Claim(ctx, "b"); err != nil || c.Run != run {
			t.Errorf("claimed a run with an id of %d bytes (%v)", len(c.Run), err)
		}
		must(t, b, block(run, 1, 2, messages.RunStarted{Node: "b", Epoch: 1},
			messages.Log{Lines: []messages.LogLine{{Number: 1, Level: messages.LogInfo, Text: strings.Repeat("words ", 400_000)}}}))
		must(t, b, block(run, 3, 3, failed))
		time.Sleep(time.Second)
		if got := listed(t, a); got.RunID != run || got.Status != messages.Failed {
			t.Errorf("the list says %s with an id of %d bytes", got.Status, len(got.RunID))
		}
		if got := listed(t, open(t, s)); got.RunID != run {
			t.Errorf("a new node lists an id of %d bytes", len(got.RunID))
		}
		if page, err := a.Read(ctx, run, 0); err != nil || len(page.Events) != 4 || proven(t, a, run) != 3 {
			t.Errorf("%d events (%v)", len(page.Events), err)
		}
		if err := a.DeleteLog(ctx, run); err != nil || stored(t, s) != 0 {
			t.Errorf("%d messages are left (%v)", stored(t, s), err)
		}
		hears("the removal", func(n journal.Note) bool { return n.Run == run })
		for _, id := range []messages.RunID{"", "r 1", messages.RunID(strings.Repeat("x", 20<<10))} {
			if err := add(a, block(id, 0, 4, queued)); !errors.Is(err, journal.ErrUnstorable) {
				t.Errorf("an id of %d bytes: %v", len(id), err)
			}
		}
	})
}

// "1,818 open questions pass its limits": what the header has no room for is in the data, and every node lists it.
func TestLargeMark(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		a, b := open(t, s), open(t, s)
		opened := queued
		opened.Labels = map[string]string{"topic": strings.Repeat("parks ", 20_000)}
		must(t, a, block("r_1", 0, 1, opened))
		var asked []messages.Body
		for i := range 2000 {
			asked = append(asked, messages.InputRequired{Request: fmt.Sprintf("%s%04d", strings.Repeat("why ", 30), i), Prompt: "Why?"})
		}
		must(t, a, block("r_1", 1, 2, append([]messages.Body{messages.RunStarted{Node: "a", Epoch: 1}}, asked...)...))
		time.Sleep(time.Second)
		for name, j := range map[string]*nats.Journal{"its node": a, "another": b, "a new one": open(t, s)} {
			if got := listed(t, j); len(got.OpenRequests) != 2000 || got.Labels["topic"] != opened.Labels["topic"] {
				t.Errorf("%s lists %d requests and %d bytes of labels", name, len(got.OpenRequests), len(got.Labels["topic"]))
			}
		}
		c := open(t, s) // it knows the headers alone
		must(t, c, block("r_1", 2002, 3, messages.InputReceived{Request: asked[0].(messages.InputRequired).Request, Value: json.RawMessage("1")}))
		time.Sleep(time.Second)
		if got := listed(t, b); len(got.OpenRequests) != 1999 {
			t.Errorf("after an answer %d requests are open", len(got.OpenRequests))
		}
		if n := proven(t, b, "r_1"); n != 3 {
			t.Errorf("%d blocks", n)
		}
		huge := queued
		huge.Labels = map[string]string{"topic": strings.Repeat("parks ", 500_000)}
		if err := add(a, block("r_2", 0, 4, huge)); !errors.Is(err, journal.ErrUnstorable) {
			t.Errorf("3 MB of labels: %v", err)
		}
	})
}

// A log that an older version has begun can be read and goes on. It has no digests.
func TestOldMessages(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		j, js := open(t, s), client(t, s)
		first := block("r_old", 0, 1, queued)
		line, err := first.Events[0].JSON()
		noError(t, err)
		_, err = js.PublishMsg(t.Context(), &natsgo.Msg{Subject: "run.r_old.q", Data: append(line, '\n'), Header: natsgo.Header{
			"Lastword-Block": {`{"id":"01000000000000000000000000000000","first":1,"last":1,"writer":"a","bytes":200,"status":"pending",` +
				`"updated_at":"2026-11-20T20:00:00Z","opened":{"job":"test","principal":"ann","queued_at":"2026-11-20T20:00:00Z"}}`}}})
		noError(t, err)
		must(t, j, first) // it lands once
		must(t, j, block("r_old", 1, 2, failed))
		page, err := j.Read(t.Context(), "r_old", 0)
		if err != nil || len(page.Events) != 2 || !page.Head.Ended {
			t.Errorf("read %+v (%v)", page, err)
		}
		for b, err := range j.Blocks(t.Context(), "r_old") {
			if err != nil || b.Digest != (journal.Hash{}) || len(b.Lines) != 1 {
				t.Errorf("block %d has the digest %s, %d lines (%v)", b.First, b.Digest, len(b.Lines), err)
			}
		}
		if got := listed(t, j); got.Status != messages.Failed {
			t.Errorf("the list says %s", got.Status)
		}
	})
}

// What one node saves another loads, also if it is larger than a message; the last one saved counts.
func TestFilesOfRuns(t *testing.T) {
	s := serve(t, &server.Options{JetStream: true})
	here, there := open(t, s), open(t, s)
	load := func(name string) (string, error) {
		var b bytes.Buffer
		err := there.Load(t.Context(), name, &b)
		return b.String(), err
	}
	if _, err := load("r_a/llms.txt"); messages.CodeOf(err) != messages.CodeNotFound {
		t.Errorf("a file before any is saved: %v", err)
	}
	large := strings.Repeat("Pots keeps tea warm.\n", 200_000)
	for _, text := range []string{"first", large, ""} {
		noError(t, here.Save(t.Context(), "r_a/llms.txt", strings.NewReader(text)))
		if got, err := load("r_a/llms.txt"); err != nil || got != text {
			t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
		}
	}
	if _, err := load("r_b/llms.txt"); messages.CodeOf(err) != messages.CodeNotFound {
		t.Errorf("another run's file: %v", err)
	}
}

package nats_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/seed889630bf/lastword/transport/nats"
)

// TestOpenExplains opens what cannot be used. The errors say what to do.
func TestOpenExplains(t *testing.T) {
	for name, c := range map[string]struct {
		options server.Options
		prepare func(*testing.T, *server.Server)
		with    []nats.Option
		says    string
	}{
		"no JetStream": {says: "start nats-server with -js"},
		"no permission": {options: server.Options{JetStream: true, Users: []*server.User{{Username: "ann", Password: "guess",
			Permissions: &server.Permissions{Subscribe: &server.SubjectPermission{Deny: []string{"live.>"}}}}}},
			says: "allow the user run.>"},
		"too many replicas": {options: server.Options{JetStream: true}, with: []nats.Option{nats.Replicas(3)}, says: "fewer replicas"},
		"another's stream": {options: server.Options{JetStream: true}, prepare: stream(jetstream.StreamConfig{Name: "RUNS"}),
			says: "not made by lastword"},
		"another's subjects": {options: server.Options{JetStream: true},
			prepare: stream(jetstream.StreamConfig{Name: "OTHER", Subjects: []string{"run.>"}}), says: "a separate NATS account"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serve(t, &c.options)
				if c.prepare != nil {
					c.prepare(t, s)
				}
				j, err := nats.Open(t.Context(), "nats://ann:guess@example", append(c.with, nats.Connect(natsgo.InProcessServer(s)))...)
				if err == nil {
					_ = j.Close()
				}
				if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "guess") {
					t.Errorf("Open: %v, want %q in it", err, c.says)
				}
			})
		})
	}
	t.Run("at an address", func(t *testing.T) {
		s := listening(t, &server.Options{JetStream: true, Username: "ann", Password: "secret"})
		for url, says := range map[string]string{
			"nats://127.0.0.1:1": "nats-server -js runs there",
			strings.Replace(s.ClientURL(), "//", "//ann:guess@", 1): "check the user and password",
		} {
			if _, err := nats.Open(t.Context(), url); err == nil || !strings.Contains(err.Error(), says) ||
				strings.Contains(err.Error(), "guess") {
				t.Errorf("Open: %v, want %q in it", err, says)
			}
		}
	})
}

func stream(c jetstream.StreamConfig) func(*testing.T, *server.Server) {
	return func(t *testing.T, s *server.Server) {
		if _, err := client(t, s).CreateStream(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

func TestWarnings(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		if w := open(t, s).Warnings(); len(w) != 1 || !strings.Contains(w[0], "one replica") {
			t.Errorf("warnings of a single server: %q", w)
		}
		limit(t, s, "RUNS", func(c *jetstream.StreamConfig) { c.Discard, c.MaxBytes = jetstream.DiscardOld, 1<<20 })
		if w := open(t, s).Warnings(); len(w) != 2 || !strings.Contains(w[1], "discards its oldest") {
			t.Errorf("warnings of a stream that discards: %q", w)
		}
	})
}

// TestRetention opens a stream with other retentions. It keeps messages for the longest of them, and the life of a run.
func TestRetention(t *testing.T) {
	bubble(t, func(t *testing.T, s *server.Server) {
		const life, day = 7 * 24 * time.Hour, 24 * time.Hour
		for _, c := range []struct{ asked, want time.Duration }{{day, life + day}, {3 * day, life + 3*day}, {day, life + 3*day}} {
			j, err := nats.Open(t.Context(), "", nats.Connect(natsgo.InProcessServer(s)), nats.Retention(c.asked))
			noError(t, err)
			_ = j.Close()
			stream, err := client(t, s).Stream(t.Context(), "RUNS")
			noError(t, err)
			if got := stream.CachedInfo().Config.MaxAge; got != c.want {
				t.Errorf("asked for %s, the stream keeps messages for %s, want %s", c.asked, got, c.want)
			}
		}
	})
}

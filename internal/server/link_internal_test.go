package server

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"
)

// A client that is behind twice makes its link thin, until it has kept up for a while; then for twice as long.
func TestLinkMeasures(t *testing.T) {
	now := time.Unix(0, 0)
	l := link{since: now}
	second := func(sent, unsent int) float64 {
		now = now.Add(time.Second)
		l.sent = sent
		l.measure(now, unsent)
		return l.rate
	}
	for i, step := range []struct {
		sent, unsent int
		want         float64
	}{
		{20_000, 0, 0},
		{20_000, 10_000, 0}, // a burst
		{10_000, 0, 0},
		{20_000, 10_000, 0},
		{10_000, 10_000, 10_000},
		{5_000, 5_000, 10_000},
		{1_000, 0, 10_000},
	} {
		if got := second(step.sent, step.unsent); got != step.want {
			t.Errorf("measurement %d: the rate is %v, want %v", i, got, step.want)
		}
	}
	kept := func() (seconds int) {
		for ; l.rate > 0; seconds++ {
			second(1_000, 0)
		}
		return seconds
	}
	first := kept()
	second(20_000, 10_000)
	second(10_000, 10_000)
	if again := kept(); again < 2*first {
		t.Errorf("the link is tried in full after %d s, and again after %d s", first, again)
	}
}

// Small writes leave half of a thin link free; large ones go at once, and no write waits longer than pause.
func TestLinkPaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, client) }()
		defer client.Close()
		l := link{rate: 10_000, since: time.Now(), last: time.Now(), patience: time.Hour}
		began := time.Now()
		write := func(n int) { _, _ = l.write(server, make([]byte, n)) }
		for range 10 {
			write(100)
		}
		if took := time.Since(began); took != 9*20*time.Millisecond {
			t.Errorf("1,000 bytes took %v", took)
		}
		write(2_000)
		began = time.Now()
		write(64 << 10)
		write(64 << 10)
		if took := time.Since(began); took != pause {
			t.Errorf("large writes took %v, want %v", took, pause)
		}
	})
}

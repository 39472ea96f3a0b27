package server

import (
	"net"
	"sync"
	"time"
)

// link keeps what waits in the kernel of one connection short. On a thin link the kernel would otherwise take megabytes
// ahead of the client, and a run's end would wait behind them. A link that is full makes writes wait instead, and the
// runtime merges what comes meanwhile.
//
// A connection is thin once the kernel has held more than the client takes in a tenth of a second, in two measurements. Until
// the client has kept up for a while, small writes then leave half of the link free, so that queues on the way drain:
// proxies and modems hold what the kernel does not see. Large writes are not slowed.
type link struct {
	mu       sync.Mutex
	since    time.Time     // when the current measurement began
	sent     int           // bytes written since
	unsent   int           // bytes that the kernel held then
	behind   int           // measurements in a row in which the client was behind
	rate     float64       // bytes a second that the client takes; 0 while the link is not thin
	last     time.Time     // when the client was last behind
	free     time.Time     // when the next small write may begin
	patience time.Duration // how long the client must keep up until the link is tried in full again
}

const (
	measured      = time.Second            // the shortest measurement
	held          = 100 * time.Millisecond // a client is behind if the kernel holds more for it than it takes in this time
	pause         = 250 * time.Millisecond // the longest that a small write is held back
	small         = 2 << 10                // bytes of a write that counts as small
	leastPatience = 30 * time.Second
	mostPatience  = 5 * time.Minute
)

// write writes to the connection, and adjusts its buffers at most once a second.
func (l *link) write(c net.Conn, data []byte) (int, error) {
	l.mu.Lock()
	free := l.free
	l.mu.Unlock()
	if wait := time.Until(free); wait > 0 {
		time.Sleep(wait)
	}
	l.begin(c)
	n, err := c.Write(data)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent += n
	if l.rate > 0 && n <= small {
		l.free = time.Now().Add(min(pause, time.Duration(2*float64(n)/l.rate*float64(time.Second))))
	}
	return n, err
}

// begin ends a measurement that is due before a write.
func (l *link) begin(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.since) >= measured {
		if rate, changed := l.measure(now, unsent(c)); changed {
			adjust(c, rate)
		}
	}
}

// measure ends a measurement, at whose end the kernel holds unsent bytes. It returns the rate for which the buffers must
// be adjusted, if that has changed.
func (l *link) measure(now time.Time, unsent int) (rate float64, changed bool) {
	rate = float64(l.sent+l.unsent-unsent) / now.Sub(l.since).Seconds()
	l.since, l.sent, l.unsent = now, 0, unsent
	if float64(unsent) > rate*held.Seconds() {
		l.behind++
		l.last = now
	} else {
		l.behind = 0
	}
	switch {
	case l.behind > 1:
		if l.rate == 0 {
			l.patience = min(max(2*l.patience, leastPatience), mostPatience)
		}
		l.rate = max(rate, 1)
	case l.rate > 0 && now.Sub(l.last) > l.patience:
		l.rate = 0
	default:
		return 0, false
	}
	return l.rate, true
}

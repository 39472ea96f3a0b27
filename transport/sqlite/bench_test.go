package sqlite_test

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/sqlite"
)

// BenchmarkAppend appends blocks of a text of 600 bytes to 64 runs at once.
func BenchmarkAppend(b *testing.B) {
	j, err := sqlite.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	text := strings.Repeat("word ", 120)
	var n atomic.Int64
	var all sync.WaitGroup
	b.ResetTimer()
	for range 64 {
		all.Go(func() {
			run := messages.NewRunID()
			after := uint64(0)
			for n.Add(1) <= int64(b.N) {
				bodies := []messages.Body{said(int(after)-3, text)}
				if after == 0 {
					bodies = []messages.Body{queued, started, begun}
				}
				next := block(run, after, bodies...)
				if err := appended(j, next); err != nil {
					b.Error(err)
					return
				}
				after = next.Head().Seq
			}
		})
	}
	all.Wait()
}

// BenchmarkExpire appends short runs from 64 goroutines for some seconds, while what has ended expires at once. It
// reports how long an append takes, and how many logs are left of those that ended.
func BenchmarkExpire(b *testing.B) {
	for range b.N {
		expireWhileAppending(b, 64, 8*time.Second)
	}
}

func expireWhileAppending(b *testing.B, writers int, long time.Duration) {
	dir := b.TempDir()
	j, err := sqlite.Open(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	var mu sync.Mutex
	var took []time.Duration
	var all sync.WaitGroup
	var ended atomic.Int64
	over := make(chan struct{})
	time.AfterFunc(long, func() { close(over) })
	for range writers {
		all.Go(func() {
			var mine []time.Duration
			for open := true; open; {
				run := messages.NewRunID()
				for _, next := range []journal.Block{block(run, 0, queued, started, begun), block(run, 3, said(0, "word ")),
					block(run, 4, said(1, "word "), done, success)} {
					began := time.Now()
					if err := appended(j, next); err != nil {
						b.Error(err)
						return
					}
					mine = append(mine, time.Since(began))
				}
				ended.Add(1)
				select {
				case <-over:
					open = false
				default:
				}
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for open := true; open; {
			select {
			case <-over:
				open = false
			case <-time.After(time.Second):
				if _, err := j.Expire(b.Context(), time.Now(), 1<<40); err != nil {
					b.Error(err)
				}
			}
		}
	}()
	all.Wait()
	var left int64
	reading(b, dir, "SELECT count(*) FROM runs WHERE ended = 1", &left) // the appends stop now
	<-stopped
	slices.Sort(took)
	b.ReportMetric(float64(ended.Load()), "ended")
	b.ReportMetric(float64(left), "left")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

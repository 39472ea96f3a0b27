//go:build unix

package llm_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/internal/standin"
	"github.com/seed889630bf/lastword/messages/model"
	"github.com/seed889630bf/lastword/testkit"
	"github.com/seed889630bf/lastword/transport/llm"
)

const (
	streams   = 200
	perSecond = 100
	seconds   = 5
)

// BenchmarkStreams takes 200 answers of 100 tokens a second each from a server in its own process, and reports
// what of a core that needs and how old a token is when its part comes, by the time in its text. The contract allows
// half a core and 5 ms at p99.
func BenchmarkStreams(b *testing.B) {
	url, stop := otherProcess(b)
	defer stop()
	c := client(b, llm.Config{BaseURL: url, Profile: model.Strict})
	var ages []time.Duration
	var cores float64
	for b.Loop() {
		ages, cores = stream(b, c)
	}
	slices.Sort(ages)
	b.ReportMetric(cores, "cores")
	b.ReportMetric(float64(ages[len(ages)/2])/1e6, "p50-ms")
	b.ReportMetric(float64(ages[len(ages)*99/100])/1e6, "p99-ms")
	b.ReportMetric(float64(len(ages))/seconds, "tokens/s")
	b.ReportMetric(0, "ns/op")
}

func stream(b *testing.B, c *llm.Client) (ages []time.Duration, cores float64) {
	var group sync.WaitGroup
	var mu sync.Mutex
	began, before := time.Now(), cpu(b)
	for range streams {
		group.Go(func() {
			mine := make([]time.Duration, 0, perSecond*seconds)
			for part, err := range c.Stream(b.Context(), hello()) {
				if err != nil {
					b.Error(err)
				}
				if text, ok := part.(model.Text); ok {
					at, _ := strconv.ParseInt(strings.TrimSpace(text.Text), 10, 64)
					mine = append(mine, time.Since(time.Unix(0, at)))
				}
			}
			mu.Lock()
			defer mu.Unlock()
			ages = append(ages, mine...)
		})
	}
	group.Wait()
	if len(ages) != streams*perSecond*seconds {
		b.Fatalf("%d tokens came", len(ages))
	}
	return ages, float64(cpu(b)-before) / float64(time.Since(began))
}

func cpu(b *testing.B) time.Duration {
	var u syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// otherProcess runs TestServer in its own process, which ends with its standard input.
func otherProcess(b *testing.B) (url string, stop func()) {
	cmd := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^TestServer$", "-test.count=1")
	cmd.Env = append(os.Environ(), "LASTWORD_BENCH_SERVER=1")
	in, err := cmd.StdinPipe()
	must(b, err)
	out, err := cmd.StdoutPipe()
	must(b, err)
	must(b, cmd.Start())
	url, err = bufio.NewReader(out).ReadString('\n')
	must(b, err)
	return strings.TrimSpace(url), func() { in.Close(); _ = cmd.Wait() }
}

func TestServer(t *testing.T) {
	if os.Getenv("LASTWORD_BENCH_SERVER") == "" {
		t.Skip("is the other process of BenchmarkStreams")
	}
	m := testkit.NewModel(t)
	m.Always(standin.Ticks(perSecond*seconds, time.Second/perSecond), testkit.Finish("stop"), testkit.Done())
	fmt.Println(m.URL())
	_, _ = io.Copy(io.Discard, os.Stdin)
}

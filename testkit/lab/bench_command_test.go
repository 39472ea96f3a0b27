package lab_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed889630bf/lastword/actors"
	coding "github.com/seed889630bf/lastword/actors/agent"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/tool"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/model"
)

// million is a program that says 1,000,000 lines.
var million = []string{"seq", "1000000"}

// commandFigures are about programs as runs.
func commandFigures(binary string) []figure {
	return []figure{
		{name: "1,000,000 lines of a command to the log", unit: "ms", goal: 5000, ours: func(t *testing.T) float64 { return commandTime(t, million, 1) }},
		{name: "the same with lastword run, peak memory", unit: "MB", goal: 64, ours: func(t *testing.T) float64 { return commandPeak(t, binary, million) }},
		{name: "200 MB of output with lastword run, peak memory", unit: "MB", goal: 128, ours: func(t *testing.T) float64 {
			return commandPeak(t, binary, []string{"head", "-c", "200000000", "/dev/zero"})
		}},
		{name: "a step of a program", unit: "µs", goal: 100, ours: stepTime},
		{name: "a chunk of an agent, p99, beyond the agent alone", unit: "ms", goal: 2, ours: func(t *testing.T) float64 {
			return chunkDelay(t, readChunks) - chunkDelay(t, readChunksAlone)
		}},
		{name: "a run of /bin/true beyond fork and exec", unit: "ms", goal: 1.5, ours: func(t *testing.T) float64 {
			const n = 200
			begin := time.Now()
			for range n {
				must(t, exec.CommandContext(t.Context(), "/bin/true").Run())
			}
			bare := float64(time.Since(begin)) / float64(time.Millisecond) / n
			return commandTime(t, []string{"/bin/true"}, n) - bare
		}},
	}
}

// stepTime is the time of a step in microseconds, from its question until the program hears that it is kept, beyond what the
// same program takes to write to itself and read.
func stepTime(t *testing.T) float64 {
	const n, program = 2000, `my ($in, $out, $n) = @ARGV; pipe(my $own, my $to) or die;
open(my $says, ">&=", $out < 0 ? fileno($to) : $out); open(my $hears, "<&=", $in < 0 ? fileno($own) : $in); $says->autoflush(1);
for my $i (1..$n) { for ("step", "keep") { print $says "{\"type\":\"$_\",\"name\":\"s$i\",\"value\":1}\n"; my $answer = <$hears>; } }`
	perl := func(in, out string) []string {
		return []string{"perl", "-MIO::Handle", "-e", program, "--", in, out, strconv.Itoa(n)}
	}
	bare := commandTime(t, perl("-1", "-1"), 1)
	return (commandTime(t, perl("4", "3"), 1) - bare) * 1000 / n
}

// chunking is an agent that says 2,000 times what time it is, once in a millisecond.
var chunking = []string{"perl", "-MTime::HiRes=time,usleep", "-e", `$| = 1; sub say { <STDIN>; printf "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":%s}\n", @_ }
say(1, '{"protocolVersion":1}'); say(2, '{"sessionId":"s"}'); my $last = <STDIN>;
for (1..2000) { usleep 1000; printf "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"update\":{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"%.6f \"}}}}\n", time }
print "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}\n"; 1 while <STDIN>`}

// chunkDelay is the time in milliseconds from when the agent says a chunk until read has it, of 99 of 100.
func chunkDelay(t *testing.T, read func(t *testing.T, have func(text string))) float64 {
	var delays []float64
	rest := ""
	read(t, func(text string) {
		now := float64(time.Now().UnixMicro()) / 1e6
		for rest += text; strings.Contains(rest, " "); {
			said, more, _ := strings.Cut(rest, " ")
			rest = more
			at, err := strconv.ParseFloat(said, 64)
			must(t, err)
			delays = append(delays, (now-at)*1000)
		}
	})
	if len(delays) != 2000 {
		t.Fatalf("%d chunks", len(delays))
	}
	slices.Sort(delays)
	return delays[len(delays)*99/100]
}

func readChunks(t *testing.T, have func(string)) {
	job, err := coding.Job(coding.Input{Prompt: "p", Dir: t.TempDir()}, chunking, coding.Config{Command: command.Config{Environ: os.Environ(), Inherit: true}})
	must(t, err)
	s, done := newSystem(t, actors.Config{})
	defer done()
	run, err := s.Start(t.Context(), job, actors.Options{})
	must(t, err)
	for e, err := range run.Events(t.Context(), 0) {
		must(t, err)
		if delta, ok := e.Body.(messages.TextDelta); ok {
			have(delta.Text)
		}
	}
}

func readChunksAlone(t *testing.T, have func(string)) {
	cmd := exec.CommandContext(t.Context(), chunking[0], chunking[1:]...)
	cmd.Stdin = strings.NewReader("1\n2\n3\n")
	out, err := cmd.StdoutPipe()
	must(t, errors.Join(err, cmd.Start()))
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var said struct {
			Params struct {
				Update struct{ Content struct{ Text string } }
			}
		}
		must(t, json.Unmarshal(lines.Bytes(), &said))
		have(said.Params.Update.Content.Text)
	}
	must(t, cmd.Wait())
}

// commandTime is the time of one of n runs of the program, one after the other, in milliseconds.
func commandTime(t *testing.T, program []string, n int) float64 {
	job, err := command.Define(command.Command{Name: "it", Command: program, Env: []string{"PATH"}}, command.Config{Environ: os.Environ()})
	must(t, err)
	s, done := newSystem(t, actors.Config{})
	defer done()
	begin := time.Now()
	for range n {
		made, err := job.New(nil)
		must(t, err)
		run, err := s.Start(t.Context(), made, actors.Options{Limits: job.Limits})
		must(t, err)
		if state, err := run.Wait(t.Context()); err != nil || state.Status != messages.Completed {
			t.Fatalf("%s: %v", state.Status, err)
		}
	}
	return float64(time.Since(begin)) / float64(time.Millisecond) / float64(n)
}

// commandPeak is the most memory of a process that runs the program, in megabytes. The process is asked before it ends:
// the figure that its parent gets at the end counts what the parent itself had.
func commandPeak(t *testing.T, binary string, program []string) float64 {
	t.Helper()
	file := filepath.Join(t.TempDir(), "status")
	ask := []string{"run", "--", "sh", "-c", `"$@" && cat /proc/$PPID/status > "$0"`, file}
	cmd := exec.CommandContext(t.Context(), binary, append(ask, program...)...)
	cmd.Stdout = io.Discard
	must(t, cmd.Run())
	status, err := os.ReadFile(file)
	must(t, err)
	return memory(t, status, "VmHWM")
}

func toolFigures() []figure {
	return []figure{{name: "ten tools between two answers of a turn", unit: "ms", goal: 1, ours: tenTools}}
}

// tenTools is the median time in milliseconds from the end of an answer with ten calls of tools, which do nothing, to
// the next request.
func tenTools(t *testing.T) float64 {
	nothing := tool.Func(tool.Tool{Name: "nothing", Access: tool.Read}, func(context.Context, struct{}) (string, error) { return "", nil })
	set, err := tool.NewSet(nil, nothing)
	must(t, err)
	calls := make([]model.ToolCall, 10)
	for i := range calls {
		calls[i] = model.ToolCall{ID: fmt.Sprint("c", i), Name: "nothing", Arguments: "{}"}
	}
	s, done := newSystem(t, actors.Config{})
	defer done()
	times := make([]float64, 101)
	for i := range times {
		var asked time.Time
		stream := func(context.Context, model.Request) iter.Seq2[model.Part, error] {
			return func(yield func(model.Part, error) bool) {
				end := model.End{Evidence: model.Evidence{Done: true, Output: true, Finish: "stop"}}
				if asked.IsZero() {
					end.Calls, end.Evidence.Finish = calls, "tool_calls"
				} else {
					times[i] = float64(time.Since(asked)) / float64(time.Millisecond)
					yield(model.Text{Text: "Done."}, nil)
				}
				end.Verdict = model.Judge(model.Strict, end.Evidence)
				asked = time.Now()
				yield(end, nil)
			}
		}
		job, err := chat.Job(chat.Input{Message: "Go."}, chat.Config{Stream: stream, Tools: set})
		must(t, err)
		run, err := s.Start(t.Context(), job, actors.Options{})
		must(t, err)
		if state, err := run.Wait(t.Context()); err != nil || state.Status != messages.Completed {
			t.Fatal(state.End, err)
		}
	}
	return median(times)
}

// modelFigures are about transport/llm, whose own benchmarks take them: a token's decoding is measured beside the
// library's in one run, and the streams' server is a separate process.
func modelFigures(t *testing.T) []figure {
	binary := filepath.Join(t.TempDir(), "llm.test")
	build := exec.CommandContext(t.Context(), "go", "-C", root, "test", "-c", "-o", binary, "./transport/llm")
	combined(t, build)
	type metrics = map[string]float64
	decode := look[metrics]{take: func(t *testing.T) metrics { return benchmark(t, binary, "Decode") }}
	streams := look[metrics]{take: func(t *testing.T) metrics { return benchmark(t, binary, "Streams") }}
	unit := func(name string) func(metrics) float64 { return func(m metrics) float64 { return m[name] } }
	return []figure{
		{name: "decode a token", unit: "ns", goal: 1, ours: decode.tell(unit("ns/token")), baseline: decode.tell(unit("ns/token-go-openai"))},
		{name: "200 streams of 100 tokens/s", unit: "cores", goal: 0.5, ours: streams.tell(unit("cores"))},
		{name: "their p99, server write to part", unit: "ms", goal: 5, ours: streams.tell(unit("p99-ms"))},
	}
}

// benchmark runs one benchmark of a test binary and returns what it reports, by unit.
func benchmark(t *testing.T, binary, name string) map[string]float64 {
	t.Helper()
	out := combined(t, exec.CommandContext(t.Context(), binary, "-test.run", "^$", "-test.bench", "^Benchmark"+name+"$"))
	metrics := map[string]float64{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		if !strings.HasPrefix(line, "Benchmark") || len(fields) < 4 {
			continue
		}
		for i := 2; i+1 < len(fields); i += 2 {
			figure, err := strconv.ParseFloat(fields[i], 64)
			must(t, err)
			metrics[fields[i+1]] = figure
		}
	}
	if len(metrics) == 0 {
		t.Fatalf("no figures in\n%s", out)
	}
	return metrics
}

package supervision_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"go.opentelemetry.io/otel"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// Wrong: a guardian is no actor. Told to escalate, it panics in the failed actor's goroutine outside any recover, and
// the process dies.
// Cure: top actors of our own instead of guardians.
// When this fails: guardians may be reconsidered if the next test fails too.
func TestPinnedB6EscalatingGuardianKillsTheProcess(t *testing.T) {
	wantDeath(t, 2, "guardian cannot escalate failure", func() {
		crashUnder(always(actor.EscalateDirective))
	})
}

// Wrong: a guardian does not know its children, so AllForOne panics in the same place.
// Cure: as above.
// When this fails: guardians may be reconsidered if the test above fails too.
func TestPinnedB6AllForOneGuardianKillsTheProcess(t *testing.T) {
	wantDeath(t, 2, "guardian does not hold its children PIDs", func() {
		crashUnder(actor.NewAllForOneStrategy(10, time.Second, actor.DefaultDecider))
	})
}

// Wrong: a panicking subscriber of the event stream fails the publisher. The failure of a top actor is published
// outside any recover, so there the process dies.
// Cure: top actors have a parent; the one subscriber, which bridges the logs, does not panic.
// When this fails: subscribers may run code that is not ours.
func TestPinnedPanickingSubscriberKillsTheProcess(t *testing.T) {
	wantDeath(t, 2, "subscriber boom", func() {
		system := silentSystem()
		system.EventStream.Subscribe(func(any) { panic("subscriber boom") })
		system.Root.Send(system.Root.Spawn(actor.PropsFromFunc(panicsOn[string])), "crash")
	})
}

// Wrong (in Go, not in the library): a panic in a goroutine that an actor started reaches no supervisor; the process
// dies.
// Cure: goroutines are started as tasks only, whose panics are thrown again in Receive.
// When this fails: the library starts goroutines for actors or Go has changed; either would be worth a look.
func TestPinnedForeignPanicKillsTheProcess(t *testing.T) {
	wantDeath(t, 2, "foreign boom", func() {
		system := silentSystem()
		start := on("start", func(actor.Context) { go panic("foreign boom") })
		system.Root.Send(system.Root.Spawn(actor.PropsFromFunc(start)), "start")
	})
}

// Wrong (in Go, not in the library): fatal errors, of which a stack overflow is one, cannot be recovered; the process
// dies with every actor in it.
// Cure: recovery at the next start, or by another node, ends the runs that the log shows as unfinished.
// When this fails: such a crash has become a failure like any other.
func TestPinnedStackOverflowKillsTheProcess(t *testing.T) {
	wantDeath(t, 2, "fatal error: stack overflow", func() {
		debug.SetMaxStack(1 << 20)
		system := silentSystem()
		start := on("start", func(actor.Context) { fmt.Fprintln(os.Stderr, depth(1)) })
		system.Root.Send(system.Root.Spawn(actor.PropsFromFunc(start)), "start")
	})
}

func depth(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + depth(n+1)
}

// Wrong: an actor that sends to itself while its Bounded mailbox is full spins for ever: it waits for the reader that
// it is. Not even Stop ends it.
// Cure: bounded mailboxes are not used.
// When this fails: see TestPinnedB5FullMailboxSpinsItsSender.
func TestPinnedB5SelfSendIsALivelock(t *testing.T) {
	wantDeath(t, 3, "still spinning", func() {
		system := silentSystem()
		flood := on("flood", func(ctx actor.Context) {
			for range 3 {
				ctx.Send(ctx.Self(), "work")
			}
		})
		pid := system.Root.Spawn(actor.PropsFromFunc(flood, actor.WithMailbox(actor.Bounded(2))))
		system.Root.Send(pid, "flood")
		wantSpinning(t, "RingBuffer).put")
		system.Root.Stop(pid)
		wantSpinning(t, "RingBuffer).put")
		fmt.Fprintln(os.Stderr, "still spinning")
		os.Exit(3)
	})
}

// Wrong: SetReceiveTimeout's timer writes the actor's fields from its own goroutine, without a lock.
// Cure: a timer sends the actor an ordinary message instead.
// When this fails: ReceiveTimeout may be used.
func TestPinnedRReceiveTimeoutRaces(t *testing.T) {
	wantRace(t, "receiveTimeoutHandler", func() {
		system := silentSystem()
		start := on("start", func(ctx actor.Context) {
			ctx.SetReceiveTimeout(time.Millisecond)
			select {} // the timer must fire while Receive runs: the library sets it again afterwards, which would order the two
		})
		system.Root.Send(system.Root.Spawn(actor.PropsFromFunc(start)), "start")
	})
}

// Wrong: SubscribeWithPredicate sets the predicate after it has made the subscription known.
// Cure: subscribers filter for themselves.
// When this fails: predicates may be used.
func TestPinnedRPredicateRaces(t *testing.T) {
	wantRace(t, "SubscribeWithPredicate", func() {
		stream := silentSystem().EventStream
		go func() {
			for {
				stream.Publish("event")
			}
		}()
		for range 100 {
			stream.SubscribeWithPredicate(func(any) {}, func(any) bool { return false })
		}
	})
}

// Right, and pinned for that: up to 2024 each stopped actor left 2.4 kB in a metrics provider that is not the global
// one. Now the attribute sets do not grow with the number of actors, and a stopped actor is collected.
// Cure: this version.
// When this fails: the leak is back; the library's metrics must stay off on a long-lived node.
func TestPinnedB12MetricsLetGoOfStoppedActors(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	restoreGlobalMeter(t)
	pinned(t, func(u upstream) {
		pids, _ := u.spawnAndStop(10)
		few := attributeSets(t, reader)
		more, actors := u.spawnAndStop(100)
		if many := attributeSets(t, reader); few == 0 || many != few {
			t.Errorf("%d attribute sets after 10 actors, %d after 110, want as many and some", few, many)
		}
		for _, pid := range append(pids, more...) {
			u.tell(pid, "forget")
		}
		if n := survivors(actors); n > len(actors)/10 {
			t.Errorf("%d of %d stopped actors are still in memory", n, len(actors))
		}
	}, actor.WithMetricProviders(provider), withMetrics)
}

// Wrong: a system with metrics makes its private provider that of the whole process.
// Cure: the library's metrics stay off; ours are counted outside it.
// When this fails: they may be turned on in an embedder's process.
func TestPinnedMetricsTakeTheProcessOver(t *testing.T) {
	provider := sdkmetric.NewMeterProvider()
	restoreGlobalMeter(t)
	silentSystem(actor.WithMetricProviders(provider), withMetrics)
	if otel.GetMeterProvider() != any(provider) {
		t.Error("the global meter provider is untouched")
	}
}

func withMetrics(config *actor.Config) { config.MetricsEnabled = true }

func restoreGlobalMeter(t *testing.T) {
	before := otel.GetMeterProvider()
	t.Cleanup(func() { otel.SetMeterProvider(before) })
}

// attributeSets counts the data points of all instruments: one for each set of attributes ever used.
func attributeSets(t *testing.T, reader sdkmetric.Reader) int {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, scope := range all.ScopeMetrics {
		for _, instrument := range scope.Metrics {
			n += dataPoints(t, instrument.Data)
		}
	}
	return n
}

func dataPoints(t *testing.T, data metricdata.Aggregation) int {
	t.Helper()
	switch data := data.(type) {
	case metricdata.Sum[int64]:
		return len(data.DataPoints)
	case metricdata.Histogram[int64]:
		return len(data.DataPoints)
	case metricdata.Histogram[float64]:
		return len(data.DataPoints)
	}
	t.Fatalf("no count for %T", data)
	return 0
}

// crashUnder spawns an actor with a guardian and crashes it.
func crashUnder(guardian actor.SupervisorStrategy) {
	system := silentSystem()
	pid := system.Root.Spawn(actor.PropsFromFunc(panicsOn[string], actor.WithGuardian(guardian)))
	system.Root.Send(pid, "crash")
}

// doomed names the test that a copy of the test binary runs in order to die.
const doomed = "LASTWORD_PINNED_DOOMED"

// wantDeath runs body in a process of its own, which must end with the code and say why.
func wantDeath(t *testing.T, code int, why string, body func()) {
	t.Helper()
	if os.Getenv(doomed) == t.Name() {
		body()
		<-time.After(10 * time.Second)
		fmt.Fprintln(os.Stderr, "survived")
		os.Exit(0)
	}
	got, output := runDoomed(t)
	if got != code || !strings.Contains(output, why) {
		t.Errorf("the process ended with %d, want %d and %q:\n%s", got, code, why, output)
	}
}

// wantRace is wantDeath by the race detector, which names the function. Without the detector there is nothing to see.
func wantRace(t *testing.T, function string, body func()) {
	t.Helper()
	if !raceBuild() {
		t.Skip("needs -race")
	}
	wantDeath(t, 66, function, body)
}

func runDoomed(t *testing.T) (code int, output string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var said bytes.Buffer
	command := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$")
	command.Env = append(os.Environ(), doomed+"="+t.Name(), "GORACE=halt_on_error=1", "GOTRACEBACK=single")
	command.Stdout, command.Stderr = &said, &said
	err := command.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), said.String()
}

func raceBuild() bool {
	info, _ := debug.ReadBuildInfo()
	for _, setting := range info.Settings {
		if setting.Key == "-race" {
			return setting.Value == "true"
		}
	}
	return false
}

package commands

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net"
	"net/http"
	"os/signal"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/server"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	api "github.com/seed889630bf/lastword/transport/http"
	"github.com/seed889630bf/lastword/transport/web"
)

// RecordCommand returns the command record. named finds the run that an argument names.
func RecordCommand(p *host.Program, named func(context.Context, host.Source, string) (messages.RunID, error)) *cobra.Command {
	remote, inputs := &host.Remote{Program: p}, []string(nil)
	cmd := &cobra.Command{
		Use:  "record <run>",
		Args: exit.Takes(1, "takes the id of one run, or last", "lastword runs ls lists them"),
		RunE: remote.Read(func(cmd *cobra.Command, args []string, c host.Source) error {
			read, err := readInputs(inputs)
			if err != nil {
				return err
			}
			id, err := named(cmd.Context(), c, args[0])
			if err != nil {
				return err
			}
			lines := terminal.JSONLines(cmd.OutOrStdout())
			err = record(cmd, remote, c, id, lines)
			for _, in := range read {
				err = cmp.Or(err, lines.Encode(in))
			}
			return err
		}),
	}
	remote.AddReadFlags(cmd, cmd.Flags())
	cmd.Flags().StringArrayVar(&inputs, "input", nil, "`file` that the run has read; keep it beside the recording")
	settings.ByOperator(cmd.Flags())
	return cmd
}

// record writes the events of the run, and then the events of its sub-runs.
func record(cmd *cobra.Command, remote *host.Remote, c host.Source, id messages.RunID, lines *json.Encoder) error {
	var children []messages.RunID
	for e, err := range remote.Follow(cmd, c, id, messages.FollowOptions{}) {
		if err == nil {
			err = lines.Encode(e)
		}
		if err != nil {
			return err
		}
		if b, ok := e.Body.(messages.ChildStarted); ok {
			children = append(children, b.Child)
		}
	}
	for _, child := range children {
		if err := record(cmd, remote, c, child, lines); err != nil {
			return err
		}
	}
	return nil
}

// readInputs describes the files of --input.
func readInputs(files []string) (read []messages.RecordedInput, err error) {
	for _, file := range files {
		data, err := regular.Read(file, regular.Large)
		if err != nil {
			return nil, messages.InvalidInput("cannot read --input %s: %v", file, exit.Reason(err))
		}
		read = append(read, messages.RecordInput(file, data))
	}
	return read, nil
}

// ReplayCommand returns the command replay. show prepares the display for a run of the job.
func ReplayCommand(p *host.Program, show func(d *terminal.Display, job string)) *cobra.Command {
	speed, page := 1.0, false
	cmd := &cobra.Command{
		Use:  "replay <file>",
		Args: exit.Takes(1, "takes the file of one recording", "lastword record last > run.jsonl makes one"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(speed > 0) {
				return exit.BadUsage(cmd, errors.New("--speed must be positive"), "")
			}
			b, err := readPlayback(args[0])
			if err != nil {
				return &exit.Error{Code: exit.Configuration, Err: fmt.Errorf("%s cannot be played: %w; lastword record last > run.jsonl makes a recording", args[0], exit.Reason(err))}
			}
			d := &terminal.Display{Stdout: cmd.OutOrStdout(), Stderr: cmd.ErrOrStderr()}
			show(d, b.job)
			return b.show(cmd.Context(), p, d, speed, page)
		},
	}
	cmd.Flags().Float64Var(&speed, "speed", 1, "play this `many` times as fast")
	cmd.Flags().BoolVar(&page, "page", false, "show the run on a page as well")
	settings.ByOperator(cmd.Flags())
	return cmd
}

// playback plays a recording into a journal, where it looks like the run of another node.
type playback struct {
	journal *journal.Memory
	events  []messages.Event
	heads   map[messages.RunID]journal.Head
	job     string
	cut     uint64 // the number of the first run's last event, or 0 if that is its end
}

// readPlayback reads a recording. It shifts its runs to begin now, and removes their principal, so that everybody who
// opens the page sees them.
func readPlayback(file string) (*playback, error) {
	data, err := regular.Read(file, regular.Large)
	if err != nil {
		return nil, err
	}
	b := &playback{journal: journal.NewMemory(), heads: map[messages.RunID]journal.Head{}}
	for line := range bytes.Lines(data) {
		in, e, err := messages.RecordedLine(line)
		if err != nil {
			return nil, err
		}
		if in.Name == "" {
			b.add(e)
		}
	}
	if b.job == "" {
		return nil, errors.New("it does not begin with a run")
	}
	stable.Sort(b.events, func(x, y messages.Event) int { return x.Time.Compare(y.Time) }) // events of one run stay in order
	return b, nil
}

// add adds an event. It removes the caller's name, because the recording is played back by somebody else.
func (b *playback) add(e messages.Event) {
	if q, ok := e.Body.(messages.RunQueued); ok {
		if len(b.events) == 0 {
			b.job = q.Job
		}
		q.Principal = ""
		e.Body = q
	}
	b.events = append(b.events, e)
	if e.RunID == b.events[0].RunID {
		if b.cut = e.Seq; e.IsTerminal() {
			b.cut = 0
		}
	}
}

// show plays the recording while the display follows it.
func (b *playback) show(ctx context.Context, p *host.Program, d *terminal.Display, speed float64, page bool) error {
	playing, stop := context.WithCancelCause(ctx)
	var others sync.WaitGroup
	defer others.Wait()
	defer stop(nil)
	shift := time.Since(b.events[0].Time)
	if err := b.append(b.events[0], shift); err != nil {
		return err
	}
	if page {
		listener, handler, err := b.page(playing, p)
		if err != nil {
			return exit.Misconfigured(err)
		}
		fmt.Fprintf(d.Stderr, "the page: http://%s/runs/%s\n", listener.Addr(), b.events[0].RunID)
		others.Go(func() { _ = server.Serve(playing, listener, handler, server.Limits{Drain: time.Second}) }) // the display continues without it
	}
	over := make(chan struct{})
	others.Go(func() {
		if err := b.play(playing, shift, speed); err != nil {
			stop(err) // there will be no terminal event
		}
		close(over)
	})
	err := host.WatchRemote(playing, b, d, nil)
	select {
	case <-over:
		if broken := context.Cause(playing); broken != nil && ctx.Err() == nil {
			return &exit.Error{Code: exit.Failed, Err: broken}
		}
		if page {
			waits, leave := signal.NotifyContext(ctx, host.Ending()...)
			<-waits.Done()
			leave()
		}
	default: // the user interrupted
	}
	return err
}

// longestPause is the longest pause between two events during playback.
const longestPause = 5 * time.Second

// play appends all events but the first. Meanwhile it holds claims on the runs, so that the runtime does not regard
// them as lost.
func (b *playback) play(ctx context.Context, shift time.Duration, speed float64) error {
	for i, e := range b.events[1:] {
		pause := min(time.Duration(float64(e.Time.Sub(b.events[i].Time))/speed), longestPause)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		for id := range b.heads {
			_ = b.journal.Keep(ctx, journal.Claim{Run: id}, journal.Held) // the memory journal does not fail
		}
		if err := b.append(e, shift); err != nil {
			return err
		}
	}
	return nil
}

// append writes an event to the journal as if it happened now.
func (b *playback) append(e messages.Event, shift time.Duration) (err error) {
	e.Time = e.Time.Add(shift).UTC()
	block := journal.Block{Run: e.RunID, After: b.heads[e.RunID], Writer: "recording", Epoch: 1, Events: []messages.Event{e.Unshared()}}
	_, _ = rand.Read(block.ID[:]) // it never fails
	b.journal.Append(block, func(refused error) { err = refused })
	b.heads[e.RunID] = block.Head()
	return err
}

// page serves the web page, which shows the runs, on this machine.
func (b *playback) page(ctx context.Context, p *host.Program) (net.Listener, http.Handler, error) {
	entrance, err := auth.New(auth.Config{})
	if err != nil {
		return nil, nil, err
	}
	system, err := actors.New(ctx, actors.Config{Journal: b.journal})
	if err != nil {
		return nil, nil, err
	}
	context.AfterFunc(ctx, func() { _ = system.Close(context.WithoutCancel(ctx)) }) // it has no runs
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	mux, page := http.NewServeMux(), entrance.Public(web.Handler(false))
	mux.Handle("/v1/", entrance.Wrap(api.New(door.New(door.Config{Runs: system, Redact: p.Secrets.Bytes}))))
	for _, path := range web.Paths() {
		mux.Handle(path, page)
	}
	return listener, mux, nil
}

// Events implements [terminal.Run]. A recording that was cut ends with an error.
func (b *playback) Events(ctx context.Context, after uint64) iter.Seq2[messages.Event, error] {
	return func(yield func(messages.Event, error) bool) {
		for e, err := range journal.NewArchive(b.journal).Events(ctx, b.events[0].RunID, after) {
			if !yield(e, err) {
				return
			}
			if b.cut != 0 && e.Seq >= b.cut {
				yield(messages.Event{}, fmt.Errorf("the recording breaks off at event %d, before the run's end", b.cut))
				return
			}
		}
	}
}

// Cancel does nothing, because the run is over.
func (b *playback) Cancel(context.Context, string) error { return nil }

package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/doctor"
	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/regular"
	guess "github.com/seed889630bf/lastword/internal/secret"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// bundle collects what a report of a bug needs.
type bundle struct {
	doctor     doctorOptions
	admin, log string
	runs       []string
	tar        *tar.Writer
	rows       [][]string // what is inside
}

func bundleCommand(p *host.Program) *cobra.Command {
	b := &bundle{doctor: doctorOptions{program: p, at: p.Endpoint(), remote: host.Remote{Program: p}, timeout: 20 * time.Second}}
	cmd := &cobra.Command{
		Use:  "bundle <file>",
		Args: exit.Takes(1, "needs the name of the file to write", ""),
		RunE: func(cmd *cobra.Command, args []string) error { return misplaced(b.write(cmd, args[0])) },
	}
	flags := cmd.Flags()
	b.doctor.remote.AddFlags(flags, "`URL` of a server, or unix:PATH (default: the one on this machine)")
	flags.StringVar(&b.doctor.state, "state", "", "`folder` that keeps the runs' events (default: the one of serve)")
	flags.StringVar(&b.admin, "admin", "", "`address` of the server's profiles (default: --admin of serve)")
	flags.StringVar(&b.log, "log", "", "`file` with the server's log; bundle takes the last 256 KiB")
	flags.StringSliceVar(&b.runs, "run", nil, "`ids` of runs, or last")
	return cmd
}

// write makes the file, which must not exist, and lists what is inside. If it cannot write all, it removes the file.
func (b *bundle) write(cmd *cobra.Command, name string) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	zip := gzip.NewWriter(f)
	b.tar, b.rows = tar.NewWriter(zip), [][]string{{"FILE", "SIZE", "WHAT"}}
	err = b.collect(cmd)
	if err = errors.Join(err, b.tar.Close(), zip.Close(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	if err := terminal.Rows(cmd.OutOrStdout(), b.rows); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "\nread them before you send %s: tar xzf %[1]s -O | less\n", name)
	return nil
}

// collect adds the files. What cannot be had is told in its place.
func (b *bundle) collect(cmd *cobra.Command) error {
	p, ctx := b.doctor.program, cmd.Context()
	s, wrong := settings.Load(cmd, p.Env, p.ConfigFile, nil, p.Secrets)
	var shown any
	if wrong == nil {
		var flags []*pflag.Flag
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
		for _, k := range s.Keys {
			flags = append(flags, k.Flag)
		}
		settings.LearnFiles(p.Secrets, p.Env, flags)
		shown = configured(s, p.Env)
		b.admin = cmp.Or(b.admin, s.Value("serve.admin"))
	}
	var output bytes.Buffer
	b.doctor.check(cmd, &output) // finds the server, too
	errs := []error{b.add("about.json", "the version, the system, and the variables that are set", asText(aboutSystem(p.Env)), nil),
		b.add("settings.json", "every setting and where it comes from", asText(shown), wrong),
		b.add("doctor.txt", "what lastword doctor says", output.Bytes(), nil)}
	if at := b.doctor.remote.URL; at != "" {
		c, err := b.doctor.remote.Client()
		for _, path := range []string{"/readyz", "/metrics"} {
			errs = append(errs, b.page(ctx, "server"+path+".txt", "what "+at+" answers to "+path, c, path, err))
		}
	}
	if b.admin != "" {
		c, err := api.New("http://"+b.admin, "")
		errs = append(errs, b.page(ctx, "server/goroutines.txt", "what the server is doing", c, "/debug/pprof/goroutine?debug=1", err))
	}
	if b.log != "" {
		text, err := lastLines(b.log)
		errs = append(errs, b.add("log.txt", "the end of "+b.log, text, err))
	}
	return errors.Join(append(errs, b.events(ctx))...)
}

// inURL is what stands before the host in a URL.
var inURL = regexp.MustCompile(`://[^\s/@"]+@`)

// add adds a file without secrets, or why it cannot be had.
func (b *bundle) add(name, what string, text []byte, failed error) error {
	if failed != nil {
		text = fmt.Appendf(text, "cannot be had: %v\n", failed)
	}
	clean := inURL.ReplaceAllString(guess.Redact(b.doctor.program.Secrets.Text(string(text))), "://[redacted]@")
	b.rows = append(b.rows, []string{name, words.Size(int64(len(clean))), what})
	err := b.tar.WriteHeader(&tar.Header{Name: "lastword-bundle/" + name, Mode: 0o600, Size: int64(len(clean)), ModTime: time.Now()})
	if err == nil {
		_, err = io.WriteString(b.tar, clean)
	}
	return err
}

func (b *bundle) page(ctx context.Context, name, what string, c *api.Client, path string, failed error) error {
	var text []byte
	if failed == nil {
		text, failed = doctor.Page(ctx, c, path)
	}
	return b.add(name, what, text, failed)
}

func asText(v any) []byte {
	text, _ := json.MarshalIndent(v, "", "  ") // of texts, numbers and times
	return append(text, '\n')
}

// aboutSystem is what a report says of the machine: of variables the names alone.
func aboutSystem(env environment.Variables) any {
	about := map[string]any{"lastword": build.This(), "made": time.Now().UTC(), "cpus": runtime.NumCPU()}
	for name, file := range map[string]string{"system": "/etc/os-release", "kernel": "/proc/sys/kernel/osrelease"} {
		if text, err := regular.Read(file, regular.Small); err == nil {
			first, _, _ := strings.Cut(string(text), "\n")
			about[name] = first
		}
	}
	set := []string{}
	for _, pair := range env {
		name, _, _ := strings.Cut(pair, "=")
		if ours.MatchString(name) {
			set = append(set, name)
		}
	}
	about["variables"] = set
	return about
}

// ours are the names of variables that change what lastword does.
var ours = regexp.MustCompile(`^(LASTWORD_|OTEL_|OPENAI_|GO(DEBUG|GC|MAXPROCS|MEMLIMIT)$|.*_(PROXY|proxy)$|XDG_|STATE_DIRECTORY$|SSL_CERT_)`)

// events adds the milestones of the runs so far: from the folder, or from a server that is elsewhere. A secret that nobody
// knows can be found in them, but not in a stream, which comes in pieces.
func (b *bundle) events(ctx context.Context) error {
	if len(b.runs) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeoutCause(ctx, b.doctor.timeout, fmt.Errorf("nothing came within %s", b.doctor.timeout))
	defer cancel()
	var from host.Source
	var failed error
	if b.doctor.remote.URL != "" && !b.doctor.here {
		from, failed = b.doctor.remote.Client()
	} else {
		var stopped *store.Stopped
		if stopped, failed = store.OpenStopped(b.doctor.program.Env, cmp.Or(b.doctor.state, b.doctor.program.Env.StateFolder())); failed == nil {
			defer stopped.Close()
			from = stopped
		}
	}
	var errs []error
	for _, name := range b.runs {
		id, why := messages.RunID(name), failed
		var text []byte
		if why == nil {
			id, why = runNamed(ctx, from, name)
		}
		if why == nil {
			text, why = untilNow(ctx, from, id)
		}
		file := "runs/" + strings.ReplaceAll(string(cmp.Or(id, messages.RunID(name))), "/", "_") + ".jsonl"
		errs = append(errs, b.add(file, "the milestones of the run", text, why))
	}
	return errors.Join(errs...)
}

// untilNow returns the run's milestones as lines of JSON, up to its last event at the time of the call.
func untilNow(ctx context.Context, from host.Source, id messages.RunID) ([]byte, error) {
	var text bytes.Buffer
	state, err := from.State(ctx, id)
	if err != nil {
		return nil, err
	}
	lines, want := json.NewEncoder(&text), messages.Filter{MilestonesOnly: true}
	for e, err := range from.Follow(ctx, id, messages.FollowOptions{}) {
		milestone, is := want.Select(e)
		if err == nil && is {
			err = lines.Encode(milestone)
		}
		if err != nil || e.Seq >= state.Seq { // a live run would go on
			return text.Bytes(), err
		}
	}
	return text.Bytes(), nil
}

// lastLines are the last whole lines of a file, 256 KiB at most: a half secret could not be found.
func lastLines(name string) ([]byte, error) {
	const most = 256 << 10
	f, info, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	cut := info.Size() > most
	if cut {
		_, err = f.Seek(-most, io.SeekEnd)
	}
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	if cut {
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	return text, err
}

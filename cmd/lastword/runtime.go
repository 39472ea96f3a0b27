package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"
	"go.uber.org/zap/zapcore"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/cmd/internal/conformance"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp"
	"github.com/seed889630bf/lastword/transport/mcp/lmstxt"
)

// house is the runtime with its door.
type house struct {
	system *actors.System
	door   *mcp.Server
	log    *zap.Logger
	flags  *hosting
	// answered, which may be nil, waits for the calls that are being answered.
	answered func(ctx context.Context)
}

// glance is how long runs must all wait for answers before nobody is believed to be on the way with one.
const glance = 250 * time.Millisecond

// leaving is how much longer than the runs the last answers may take.
const leaving = 10 * time.Second

// instructions tell a model what the server is for.
func (h *hosting) instructions() string {
	text := "Runs long jobs and streams what happens. generate writes llms.txt files for a repository; read them as the " +
		"resources that its result links to, or with lmstxt_read_artifact. A call with a progress token streams the " +
		"run's events; where a call may time out, use run_start and then run_wait or run_events with the run_id. Every " +
		"run ends with one last word: completed, failed or canceled."
	if h.shown != "" {
		text += " The folders of results are below " + h.shown + "."
	}
	return text
}

// open starts the runtime. Nothing is written, listened to or asked for.
func (h *hosting) open(ctx context.Context, config actors.Config, stderr io.Writer) (*house, error) {
	log := h.logger(stderr)
	config = h.node(config)
	config.Log = log
	system, err := actors.New(ctx, config)
	if err != nil {
		return nil, &exitError{exitConfiguration, err}
	}
	door := mcp.New(mcp.Config{Runs: system, Open: h.artifact, Name: "lastword", Title: "lastword",
		Version: aboutThis().full(), Instructions: h.instructions(), Log: log, Retention: h.retention,
		Redact: h.secrets.Bytes})
	inside := &house{system: system, door: door, log: log, flags: h}
	if err := inside.furnish(); err != nil {
		return nil, errors.Join(err, inside.close(ctx))
	}
	return inside, nil
}

// furnish adds the tools.
func (i *house) furnish() error {
	h := i.flags
	stall := messages.Limits{StallMS: milliseconds(h.by.at.stall())}
	generate, prompt := lmstxt.GenerateTool(h.prepareGenerate), promptTool(h.preparePrompt)
	generate.Limits, prompt.Limits = stall, stall
	err := errors.Join(i.door.AddJob(generate), i.door.AddJob(prompt))
	if err == nil {
		err = lmstxt.Register(i.door, lmstxt.Config{Root: h.callersFolder, Shown: h.shown, Named: h.named,
			Folders: h.folders})
	}
	if err == nil && h.conformance {
		err = conformance.Register(i.door)
	}
	return err
}

// close takes no more runs, waits for those that there are until ctx is done, the time to drain is over, or all that are
// left wait for answers, which nobody can give any more; and then ends them, the streams and the connections.
func (i *house) close(ctx context.Context) error {
	drained, end := context.WithCancel(ctx)
	i.endWhenStuck(drained, end, false)
	err := i.system.Close(drained)
	end()
	if i.answered != nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaving)
		defer cancel()
		i.answered(last)
	}
	i.door.Close()
	i.flags.by.close()
	return err
}

// endWhenStuck calls end when all runs that are left wait for answers at two glances, unless ctx is done before.
func (i *house) endWhenStuck(ctx context.Context, end func(), stuck bool) {
	time.AfterFunc(glance, func() {
		n := i.system.Stats()
		stuckNow := n.Active > 0 && n.Waiting == n.Active
		switch {
		case ctx.Err() != nil:
		case stuck && stuckNow:
			end()
		default:
			i.endWhenStuck(ctx, end, stuckNow)
		}
	})
}

// logger writes what operators want to know, a line each.
func (h *hosting) logger(stderr io.Writer) *zap.Logger {
	level := zapcore.WarnLevel
	if h.verbose {
		level = zapcore.DebugLevel
	}
	form := zap.NewProductionEncoderConfig()
	form.EncodeTime, form.EncodeLevel = zapcore.ISO8601TimeEncoder, zapcore.CapitalLevelEncoder
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(form), zapcore.Lock(zapcore.AddSync(stderr)), level))
}

// asSlog is the same logger for those who know only the standard library's.
func (i *house) asSlog() *slog.Logger { return slog.New(zapslog.NewHandler(i.log.Core())) }

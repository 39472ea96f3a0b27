package host

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"slices"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"
	"go.uber.org/zap/zapcore"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/chat"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/actors/webhook"
	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/http"
	"github.com/seed889630bf/lastword/transport/mcp"
	"github.com/seed889630bf/lastword/transport/mcp/lmstxt"
	"github.com/seed889630bf/lastword/transport/telemetry"
)

// Server is the runtime with its MCP server and HTTP API.
type Server struct {
	system  *actors.System
	Handler *mcp.Server
	// API serves the HTTP API, Metrics the metrics of the runtime. Both are nil without Options.HTTP.
	API     *http.Server
	Metrics *telemetry.Observer
	// Dialects are the handlers of other protocols, by the prefix of their paths. Nano is the handler for NANO's own
	// listener, with the paths /mcp and /ws, or nil.
	Dialects map[string]*door.Handler
	Nano     *door.Handler
	Log      *zap.Logger
	options  *Options
	store    *store.Store
	hooks    *webhook.Hooks // nil without webhooks
	keys     *marks[store.Keys]
	private  func() (ed25519.PrivateKey, error) // the key that signs
	sealing  []byte                             // the secret that seals credentials; nil without a folder of trust
	// stopBeside stops schedules and webhooks. forgetSecret removes the file of Options.Terminal.
	stopBeside, forgetSecret func()
	// WaitForAnswers, if not nil, waits for the calls that are in progress.
	WaitForAnswers func(ctx context.Context)
}

// stuckInterval is how long all runs must wait for answers before Close regards them as stuck.
const stuckInterval = 250 * time.Millisecond

// AnswerTimeout is how long the last responses may take after the runs have ended.
const AnswerTimeout = 10 * time.Second

// instructions returns the text that tells a model what the server does.
func (h *Options) instructions() string {
	text := "Runs long jobs and streams what happens. generate writes llms.txt files for a repository; run_read reads " +
		"them. A call with a progress token streams the run's events; where a call may time out, use run_start and then " +
		"run_wait or run_events with the run_id. Every run ends with one last word: completed, failed or canceled."
	if h.ShownOut != "" {
		text += " The folders of results are below " + h.ShownOut + "."
	}
	return text
}

// Start opens the journal and starts the runtime. It opens no port and contacts no model server.
func (h *Options) Start(ctx context.Context, stderr io.Writer) (*Server, error) {
	log := h.logger(stderr)
	h.Terminal = rand.Text()
	box, err := h.mcpServers.Open(h.program.Env, h.Secrets, build.This().Full())
	if err != nil {
		return nil, err
	}
	h.box = box
	config := h.systemConfig()
	config.Log = log
	var beside []func(context.Context)
	if clock := h.newClock(log); clock != nil {
		config.Jobs, beside = append(config.Jobs, clock.Define()), append(beside, clock.Run)
	}
	hooks := h.newHooks(log)
	if hooks != nil {
		config.Jobs, beside = append(config.Jobs, hooks.Define()), append(beside, hooks.Run)
	}
	kept, err := h.Store.Open(ctx, h.Env(), h.Secrets, log, h.retention)
	if err != nil {
		box.Close()
		return nil, &exit.Error{Code: exit.Configuration, Err: err}
	}
	for _, warning := range kept.Warnings {
		log.Warn("journal", zap.String("warning", warning))
	}
	h.kept = kept
	if kept.Journal != nil {
		config.Journal, config.HandOver = kept.Journal, true
	}
	inside := &Server{Log: log, options: h, store: kept, hooks: hooks, stopBeside: func() {}, forgetSecret: func() {}}
	if h.HTTP {
		if err := inside.makeKeys(ctx); err != nil {
			box.Close()
			return nil, &exit.Error{Code: exit.Configuration, Err: errors.Join(err, kept.Close())}
		}
		inside.Metrics = h.newObserver(func() actors.Stats { return inside.system.Stats() },
			func() float64 { return float64(inside.API.Readers()) }, inside.ready)
		config.Observe = inside.observe
	}
	system, err := h.program.start(ctx, config)
	if err != nil {
		box.Close()
		return nil, &exit.Error{Code: exit.Configuration, Err: errors.Join(err, kept.Close())}
	}
	h.startTools(log)
	door := mcp.New(mcp.Config{Runs: offered{system}, Open: h.artifact, Name: "lastword", Title: "lastword",
		Version: build.This().Full(), Instructions: h.instructions(), Log: log, Retention: h.retention,
		Redact: h.Secrets.Bytes, People: h.people, AgentsConfirm: h.agentsConfirm})
	inside.system, inside.Handler = system, door
	if err := inside.addJobs(); err != nil {
		return nil, errors.Join(err, inside.Close(ctx))
	}
	inside.stopBeside = RunBeside(beside...)
	return inside, nil
}

// addJobs offers the jobs as tools and, with Options.HTTP, in the API.
func (i *Server) addJobs() error {
	h := i.options
	if h.HTTP {
		i.newAPI()
	}
	if slices.Contains(h.tools, planTools) {
		if err := i.registerPlans(); err != nil {
			return err
		}
	}
	return i.addTools()
}

// newAPI creates the door, and on it the HTTP API and the dialects.
func (i *Server) newAPI() {
	h := i.options
	to := door.New(door.Config{Runs: i.system, Jobs: offered{i.system}.Jobs(), Models: h.modelNames, Open: h.artifact, Version: build.This().Full(),
		Callback: h.checkCallback(), Redact: h.Secrets.Bytes, Secure: h.Secure, Lag: i.Metrics.Lag,
		People: h.people, AgentsConfirm: h.agentsConfirm, Sealing: i.sealing})
	to.Prove, to.Keys = i.prove, func(ctx context.Context) ([]string, error) {
		keys, err := i.keys.load(ctx)
		return keys.Texts(), err
	}
	i.API = http.New(to)
	i.newDialects(to)
}

// addTools adds the tools. Those that need a model are added only if one is configured.
func (i *Server) addTools() error {
	h := i.options
	err := lmstxt.RegisterGenerate(i.Handler)
	for _, job := range []string{prompt.Name, chat.Name} {
		if err == nil && (h.model != "" || h.finder.Endpoint.BaseURL != "") {
			err = i.Handler.AddJob(mcp.JobTool{Job: job})
		}
	}
	for _, job := range h.commands() {
		err = cmp.Or(err, i.Handler.AddJob(mcp.JobTool{Job: job.Name}))
	}
	if err == nil && slices.Contains(h.tools, lmstxtTools) {
		err = lmstxt.Register(i.Handler, lmstxt.Config{Files: h.callersFiles, Shown: h.ShownOut, Named: h.inputName,
			Folders: h.folders})
	}
	return err
}

// Close stops the server. It accepts no more runs, and waits for the others until ctx is done, the drain time is over,
// or all remaining runs wait for answers that nobody can give any more. Then it ends these runs, the streams and the
// connections.
func (i *Server) Close(ctx context.Context) error {
	i.stopBeside()
	i.forgetSecret()
	drained, end := context.WithCancel(ctx)
	i.endWhenStuck(drained, end, false)
	err := i.system.Close(drained)
	end()
	if i.WaitForAnswers != nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), AnswerTimeout)
		defer cancel()
		i.WaitForAnswers(last)
	}
	i.Handler.Close()
	if i.Metrics != nil {
		i.Metrics.Close()
	}
	i.options.finder.Close()
	i.options.box.Close()
	return errors.Join(err, i.store.Close())
}

// Ready returns the reason why the server accepts no runs now, or nil.
func (i *Server) Ready() error { return i.system.Ready() }

// ready is Ready as a metric.
func (i *Server) ready() float64 {
	if i.Ready() != nil {
		return 0
	}
	return 1
}

// Announce tells other processes the URL of the server.
func (i *Server) Announce(url string) error {
	i.options.address.Store(local(url))
	i.forgetSecret = leaveSecret(i.options.Env(), local(url), i.options.Terminal)
	return i.store.Announce(url)
}

// endWhenStuck calls end if, twice in a row, all remaining runs wait for answers or for another attempt to reach a
// receiver. It stops when ctx is done.
func (i *Server) endWhenStuck(ctx context.Context, end func(), stuck bool) {
	time.AfterFunc(stuckInterval, func() {
		n := i.system.Stats()
		waiting := n.Waiting
		if i.hooks != nil {
			waiting += i.hooks.Resting()
		}
		stuckNow := n.Active > 0 && waiting >= n.Active
		switch {
		case ctx.Err() != nil:
		case stuck && stuckNow:
			end()
		default:
			i.endWhenStuck(ctx, end, stuckNow)
		}
	})
}

// logger returns the log for operators, with one line per entry.
func (h *Options) logger(stderr io.Writer) *zap.Logger {
	level := zapcore.WarnLevel
	if h.verbose {
		level = zapcore.DebugLevel
	}
	form := zap.NewProductionEncoderConfig()
	form.EncodeTime, form.EncodeLevel = zapcore.ISO8601TimeEncoder, zapcore.CapitalLevelEncoder
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(form), zapcore.Lock(zapcore.AddSync(stderr)), level))
}

// Slog returns the log as a slog.Logger.
func (i *Server) Slog() *slog.Logger { return slog.New(zapslog.NewHandler(i.Log.Core())) }

// Milliseconds rounds up, so that the shortest limit is 1.
func Milliseconds(d time.Duration) int64 {
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}

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
	"sync/atomic"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/exp/zapslog"
	"go.uber.org/zap/zapcore"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/prompt"
	"github.com/seed889630bf/lastword/cmd/internal/build"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/internal/chat"
	"github.com/seed889630bf/lastword/internal/lmstxt"
	"github.com/seed889630bf/lastword/internal/schedule"
	"github.com/seed889630bf/lastword/internal/telemetry"
	"github.com/seed889630bf/lastword/internal/webhook"
	"github.com/seed889630bf/lastword/transport/door"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/seal"
	"github.com/seed889630bf/lastword/transport/http"
	"github.com/seed889630bf/lastword/transport/mcp"
)

// Server is the runtime with its MCP server and HTTP API. It serves until Close.
type Server struct {
	Handler *mcp.Server
	// API serves the HTTP API, Metrics the metrics of the runtime. Both are nil without Web.
	API     *http.Server
	Metrics *telemetry.Observer
	// Dialects are the handlers of other protocols, by the prefix of their paths. Nano is the handler for NANO's own
	// listener, with the paths /mcp and /ws, or nil.
	Dialects map[string]*door.Handler
	Nano     *door.Handler
	Log      *zap.Logger
	// Terminal is the secret of commands at a terminal; RunTokens are tokens of programs inside runs. address is the
	// server's URL on this machine, a string, once it listens.
	Terminal  string
	RunTokens auth.RunTokens
	address   atomic.Value
	system    *actors.System
	jobs      *catalog
	tokens    *spending
	hooks     *webhook.Hooks  // nil without webhooks
	clock     *schedule.Clock // nil without schedules
	keys      *marks[store.Keys]
	private   func() (ed25519.PrivateKey, error) // the key that signs
	// signed is the key that has signed last, and before the one before it. The lock of keys guards both.
	signed, before ed25519.PrivateKey
	sealing        seal.Keys // of what clients keep; nil without a folder of trust
	rows           seal.Rows // of their sessions
	// stopBeside stops schedules and webhooks. forgetSecret removes the file of Terminal.
	stopBeside, forgetSecret func()
	// WaitForAnswers, if not nil, waits for the calls that are in progress.
	WaitForAnswers func(ctx context.Context)
}

// stuckInterval is how long all runs must wait for answers before Close regards them as stuck.
const stuckInterval = 250 * time.Millisecond

// AnswerTimeout is how long the last responses may take after the runs have ended.
const AnswerTimeout = 10 * time.Second

// instructions returns the text that tells a model what the server does.
func (c *Checked) instructions() string {
	if len(c.behind) > 0 && c.web == nil {
		return "Offers the tools of other servers. A call that takes long answers with the id of its run: call run_wait with it."
	}
	text := "Runs long jobs and streams what happens. generate writes llms.txt files for a repository; run_read reads " +
		"them. A call with a progress token streams the run's events; where a call may time out, use run_start and then " +
		"run_wait or run_events with the run_id. Every run ends with one last word: completed, failed or canceled."
	if shown := c.shownOut(); shown != "" {
		text += " The folders of results are below " + shown + "."
	}
	return text
}

// shownOut returns the output folder as callers see it, or "" if they may be on another machine.
func (c *Checked) shownOut() string {
	if c.web != nil {
		return ""
	}
	return c.Out
}

// Start opens the journal and starts the runtime. It opens no port and contacts no model server.
func (c *Checked) Start(ctx context.Context, stderr io.Writer) (*Server, error) {
	s := &Server{Log: c.logger(stderr), Terminal: rand.Text(), stopBeside: func() {}, forgetSecret: func() {}}
	tools, err := c.openTools()
	if err != nil {
		return nil, err
	}
	journal, err := c.Store.Open(ctx, c.Env(), c.program.Secrets, s.Log, c.retention)
	if err != nil {
		tools.Close()
		return nil, exit.Misconfigured(err)
	}
	if err := journal.WritesBelow(ctx, c.Out); err != nil {
		tools.Close()
		return nil, &exit.Error{Code: exit.Configuration, Err: errors.Join(err, journal.Close())}
	}
	for _, warning := range journal.Warnings {
		s.Log.Warn("journal", zap.String("warning", warning))
	}
	s.jobs = c.newCatalog(tools, journal)
	s.jobs.inside, s.jobs.conversations.shared = s.inside, journal.Conversations
	if s.jobs.wrapped, err = c.openWrapped(s.Log); err != nil {
		s.jobs.close()
		return nil, errors.Join(err, journal.Close())
	}
	var beside []func(context.Context)
	if s.jobs.guardian, err = c.startGuardian(ctx, s.Log); err == nil {
		beside, err = s.startRuntime(ctx)
	}
	if err != nil {
		s.jobs.close()
		return nil, &exit.Error{Code: exit.Configuration, Err: errors.Join(err, journal.Close())}
	}
	s.jobs.startTools(s.Log)
	s.rows = seal.Rows{Get: journal.GetSession, Set: journal.SetSession, Shared: c.Store.Shared()}
	s.Handler = mcp.New(mcp.Config{Runs: offered{s.system, s.jobs}, Open: s.jobs.artifact, Name: "lastword", Title: "lastword",
		Version: build.This().Full(), Instructions: c.instructions(), Log: s.Log, Retention: c.retention,
		Redact: c.program.Secrets.Bytes, People: s.people, AgentsConfirm: c.agentsConfirm, Keys: s.sealing, Wrap: c.offer(s.jobs.wrapped),
		Sessions: s.rows})
	if s.jobs.wrapped != nil {
		s.jobs.wrapped.door.Store(s.Handler)
	}
	if err := s.addJobs(); err != nil {
		return nil, errors.Join(err, s.Close(ctx))
	}
	s.stopBeside = RunBeside(beside...)
	return s, nil
}

// startRuntime starts the runtime with all jobs. It returns what must run beside it.
func (s *Server) startRuntime(ctx context.Context) (beside []func(context.Context), err error) {
	s.tokens = s.jobs.newSpending()
	config := s.jobs.systemConfig(s.tokens)
	config.Log = s.Log
	if s.clock = s.jobs.newClock(s.Log); s.clock != nil {
		beside = append(beside, s.clock.Run)
	}
	if s.hooks = s.jobs.newHooks(s.Log); s.hooks != nil {
		config.Jobs, beside = append(config.Jobs, s.hooks.Define()), append(beside, s.hooks.Run)
	}
	if s.jobs.web != nil {
		if err := s.makeKeys(ctx); err != nil {
			return nil, err
		}
		s.Metrics = s.jobs.newObserver(func() actors.Stats { return s.system.Stats() },
			func() float64 { return float64(s.API.Readers()) }, s.ready, s.tokens.left)
		config.Observe = s.observe
	}
	s.system, err = s.jobs.program.start(ctx, config)
	return beside, err
}

// systemConfig returns the configuration of the runtime. tokens limits the model tokens of each principal.
func (c *catalog) systemConfig(tokens *spending) actors.Config {
	config := c.program.Actors
	config.Jobs, config.Faults = c.jobs(), c.faults
	if c.store.Journal != nil {
		config.Journal, config.HandOver = c.store.Journal, true
	}
	config.WallClock, config.Retention, config.RetentionBytes = c.timeout, c.retention, int64(c.retentionSize)
	if config.MaxRuns, config.MaxRunsPerPrincipal = c.maxRuns, c.MaxRunsEach; tokens.limit > 0 {
		config.Spend, config.Spent = tokens.ask, tokens.spent
	}
	config.Drain = max(c.Drain, time.Nanosecond)
	if c.guardian != nil {
		config.Held = c.guardian.Beat
		config.Held() // the programs of a server end that freezes before it has held a run, too
	}
	config.Ceilings = actors.Ceilings{WallClock: cmp.Or(c.timeout, day), Stall: day, Answer: cmp.Or(config.Ceilings.Answer, 7*day), Bytes: 1 << 30,
		Budget: c.budget.Budget}
	config.Prices = c.prices
	return config
}

// addJobs offers the jobs as tools and, with Web, in the API.
func (s *Server) addJobs() error {
	if s.jobs.web != nil {
		s.newAPI()
	}
	if slices.Contains(s.jobs.tools, planTools) {
		if err := s.registerPlans(); err != nil {
			return err
		}
	}
	return s.addTools()
}

// newAPI creates the door, and on it the HTTP API and the dialects.
func (s *Server) newAPI() {
	c := s.jobs
	to := door.New(door.Config{Runs: offered{s.system, c}, Jobs: offered{s.system, c}.Jobs(), Models: c.finder.modelNames, Open: c.artifact,
		Version: build.This().Full(), Callback: c.checkCallback(), Redact: c.program.Secrets.Bytes, Secure: c.web.Secure,
		Lag: s.Metrics.Lag, People: s.people, AgentsConfirm: c.agentsConfirm, Sealing: s.sealing, Rows: s.rows})
	if c.wrapped != nil {
		to.Views = c.wrapped.views
	}
	if c.added != nil {
		to.Callbacks, to.ChangeCallbacks = c.callbacksOf, c.changeCallbacks
	}
	to.Prove, to.Keys = s.prove, func(ctx context.Context) ([]string, error) {
		keys, err := s.keys.load(ctx)
		return keys.Texts(), err
	}
	if s.tokens.limit > 0 {
		to.Days = s.tokens.days
	}
	s.API = http.New(to)
	s.newDialects(to)
}

// addTools adds the tools. Those that need a model are added only if one is configured.
func (s *Server) addTools() error {
	c := s.jobs
	if c.wrapped != nil && c.web == nil {
		return nil // it has no tools itself
	}
	err := lmstxt.RegisterGenerate(s.Handler)
	for _, job := range []string{prompt.Name, chat.Name} {
		if err == nil && (c.model != "" || c.endpoint.BaseURL != "") {
			err = s.Handler.AddJob(mcp.JobTool{Job: job})
		}
	}
	for _, job := range append(c.agents(), c.commands()...) {
		err = cmp.Or(err, s.Handler.AddJob(mcp.JobTool{Job: job.Name}))
	}
	if err == nil && slices.Contains(c.tools, lmstxtTools) {
		err = lmstxt.Register(s.Handler, lmstxt.Config{Files: c.callersFiles, Shown: c.shownOut(), Named: c.inputName,
			Folders: c.folders})
	}
	return err
}

// Close stops the server. It accepts no more runs, and waits for the others until ctx is done, the drain time is over,
// or all remaining runs wait for answers that nobody can give any more. Then it ends these runs, the streams and the
// connections.
func (s *Server) Close(ctx context.Context) error {
	s.stopBeside()
	s.forgetSecret()
	drained, end := context.WithCancel(ctx)
	s.endWhenStuck(drained, end, false)
	err := s.system.Close(drained)
	end()
	if s.WaitForAnswers != nil {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), AnswerTimeout)
		defer cancel()
		s.WaitForAnswers(last)
	}
	s.Handler.Close()
	if s.Metrics != nil {
		s.Metrics.Close()
	}
	s.jobs.close()
	return errors.Join(err, s.tokens.giveBack(context.WithoutCancel(ctx)), s.jobs.store.Close())
}

// Ready returns the reason why the server accepts no runs now, or nil.
func (s *Server) Ready() error { return s.system.Ready() }

// ready is Ready as a metric.
func (s *Server) ready() float64 {
	if s.Ready() != nil {
		return 0
	}
	return 1
}

// Announce tells other processes the URL of the server.
func (s *Server) Announce(url string) error {
	s.address.Store(Local(url))
	s.forgetSecret = leaveSecret(s.jobs.Env(), Local(url), s.Terminal)
	return s.jobs.store.Announce(url)
}

// endWhenStuck calls end if, twice in a row, all remaining runs wait for answers or for another attempt to reach a
// receiver. It stops when ctx is done.
func (s *Server) endWhenStuck(ctx context.Context, end func(), stuck bool) {
	time.AfterFunc(stuckInterval, func() {
		n := s.system.Stats()
		waiting := n.Waiting
		if s.hooks != nil {
			waiting += s.hooks.Resting()
		}
		stuckNow := n.Active > 0 && waiting >= n.Active
		switch {
		case ctx.Err() != nil:
		case stuck && stuckNow:
			end()
		default:
			s.endWhenStuck(ctx, end, stuckNow)
		}
	})
}

// logger returns the log for operators, with one line per entry.
func (f *Flags) logger(stderr io.Writer) *zap.Logger {
	level := zapcore.WarnLevel
	if f.verbose {
		level = zapcore.DebugLevel
	}
	form := zap.NewProductionEncoderConfig()
	form.EncodeTime, form.EncodeLevel = zapcore.ISO8601TimeEncoder, zapcore.CapitalLevelEncoder
	return zap.New(zapcore.NewCore(zapcore.NewConsoleEncoder(form), zapcore.Lock(zapcore.AddSync(stderr)), level))
}

// Slog returns the log as a slog.Logger.
func (s *Server) Slog() *slog.Logger { return slog.New(zapslog.NewHandler(s.Log.Core())) }

// Milliseconds rounds up, so that the shortest limit is 1.
func Milliseconds(d time.Duration) int64 { return int64((d + time.Millisecond - 1) / time.Millisecond) }

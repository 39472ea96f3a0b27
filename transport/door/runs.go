package door

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/door/seal"
)

// Runs is the runtime as doors need it. *actors.System implements it.
type Runs interface {
	// Submit accepts a run. When it returns, run.queued is in the journal. The end of ctx cancels an attached run.
	Submit(ctx context.Context, q messages.Request) (messages.RunID, error)
	// Attach keeps an attached run alive until ctx is done.
	Attach(ctx context.Context, id messages.RunID) error
	State(ctx context.Context, id messages.RunID) (messages.State, error)
	Follow(ctx context.Context, id messages.RunID, o messages.FollowOptions) iter.Seq2[[]messages.Event, error]
	List(ctx context.Context, q messages.Query) ([]messages.Summary, error)
	// Watch calls fn with the id of each run that has changed, or with "" if any run may have, until ctx is done.
	Watch(ctx context.Context, fn func(messages.RunID)) error
	Cancel(ctx context.Context, id messages.RunID, by, reason string) error
	Answer(ctx context.Context, id messages.RunID, request string, value json.RawMessage, principal string) error
	// Send says something to a run that works, and returns when that is in its log. Revoke takes it back.
	Send(ctx context.Context, id messages.RunID, msg messages.Said) (messages.Message, error)
	Revoke(ctx context.Context, id messages.RunID, message string) error
	// Release lets a run begin that is held, because the run before it in its conversation did not complete.
	Release(ctx context.Context, id messages.RunID, by string) error
	// Move gives a run that waits a place right before the other that waits, or with "" the first place.
	Move(ctx context.Context, id, before messages.RunID, by string) error
	// DeleteLog removes the log of an ended run.
	DeleteLog(ctx context.Context, id messages.RunID) error
}

// Config configures a Door. Only Runs is required.
type Config struct {
	Runs Runs
	// Jobs lists the jobs that callers may start.
	Jobs []messages.JobInfo
	// Views returns jobs that come and go, as the caller sees them now; nil means none. They are not in Jobs. With a name, it
	// waits for the job of that name and its siblings, and fails if they cannot be known.
	Views func(ctx context.Context, name string) ([]View, error)
	// Models returns the names of the models that callers may ask for. It may return a cached list if that has the
	// name. nil means none.
	Models func(ctx context.Context, name string) ([]string, error)
	// Open opens an artifact of a run for reading; nil means that runs write none. Errors: not_found if the file is
	// deleted, or if its content is no longer what the run wrote.
	Open func(ctx context.Context, run messages.State, artifact messages.Artifact) (io.ReadSeekCloser, error)
	// Prove writes the signed log of a run. Keys returns the public keys that have signed logs, the newest first. Both
	// are nil if logs are not signed.
	Prove func(ctx context.Context, run messages.RunID, w io.Writer) error
	Keys  func(ctx context.Context) ([]string, error)
	// Days returns what is left of today's tokens: of the principal, or of all others who have used some, too. nil means that
	// days have no ceilings.
	Days func(ctx context.Context, principal string, all bool) ([]messages.DayTokens, error)
	// Version is the version of the program.
	Version string
	// Heartbeat is the longest time that a stream is silent; 0 means 15 s. WriteTimeout is how long a client may take
	// to read what was written, before its connection is cut; 0 means 30 s.
	Heartbeat, WriteTimeout time.Duration
	// Lag, if not nil, is called with the delay between an event and its writing, for readers that were connected when
	// it happened.
	Lag func(time.Duration)
	// Secure limits session cookies to https.
	Secure bool
	// Callback returns an error if the server may not send a run's events to this URL of the caller. nil means that the
	// server sends no callbacks.
	Callback func(url string) error
	// Callbacks returns the callback URLs that callers have added to a run, by their ids; "" says that one was removed.
	// ChangeCallbacks changes them. Both are nil if the server sends no callbacks.
	Callbacks       func(ctx context.Context, run messages.RunID) (map[string]string, error)
	ChangeCallbacks func(ctx context.Context, run messages.RunID, do func(urls map[string]string) error) error
	// People returns the URL of the page for people, without a final slash; "" or nil if there is none.
	People func() string
	// AgentsConfirm lets agents answer the confirmations of all jobs.
	AgentsConfirm bool
	// Sealing are the keys of what clients keep, and of the credentials that they send; nil makes a key, which ends with
	// the process.
	Sealing seal.Keys
	// Rows keep what streams of dialects need in another process. Without Get, their ids end with the process.
	Rows seal.Rows
	// Redact removes the process's secrets from an outgoing message, possibly in place; nil removes none.
	Redact func([]byte) []byte
}

// Door gives protocols access to the runs of their callers. It checks scopes and ownership in every method that takes a
// caller's context. It is safe for concurrent use.
type Door struct {
	Config
	jobs    map[string]job
	readers atomic.Int64
	sockets atomic.Int64 // WebSockets that are open

	// mu guards the two fields below, which let all streams share one goroutine that waits for the server to stop.
	mu       sync.Mutex
	draining context.Context // canceled when drained is closed
	drained  <-chan struct{}
}

// New returns a Door with the defaults of c filled in.
func New(c Config) *Door {
	c.Heartbeat = cmp.Or(c.Heartbeat, 15*time.Second)
	c.WriteTimeout = cmp.Or(c.WriteTimeout, 30*time.Second)
	c.Sealing = seal.New(c.Sealing)
	redact := c.Redact
	c.Redact = func(message []byte) []byte {
		if redact != nil {
			message = redact(message)
		}
		return words.Unbroken(message)
	}
	d := &Door{Config: c, jobs: map[string]job{}}
	for _, info := range c.Jobs {
		d.jobs[info.Name] = newJob(info)
	}
	return d
}

// Readers returns how many streams and subscriptions are open.
func (d *Door) Readers() int64 { return d.readers.Load() }

// Enter counts one more reader until leave is called.
func (d *Door) Enter() (leave func()) {
	d.readers.Add(1)
	return func() { d.readers.Add(-1) }
}

// Late reports to Lag how late the newest event of the batch is. It leaves out events from before opened, when the
// reader connected.
func (d *Door) Late(batch []messages.Event, opened time.Time) {
	if d.Lag == nil || len(batch) == 0 {
		return
	}
	if last := batch[len(batch)-1]; last.Time.After(opened) {
		d.Lag(time.Since(last.Time))
	}
}

// CheckCallback returns an error (invalid_input) if a run may not have this callback URL. "" is always allowed.
func (d *Door) CheckCallback(url string) error {
	switch {
	case url == "":
		return nil
	case d.Callback == nil:
		return messages.InvalidInput("this server sends no callbacks: its operator allows hosts with --callback-hosts")
	}
	return d.Callback(url)
}

// Own returns the State of the caller's run without checking scopes. Errors: not_found, also for the runs of others.
func (d *Door) Own(ctx context.Context, id messages.RunID) (messages.State, error) {
	state, err := d.Runs.State(ctx, id)
	if err == nil {
		err = auth.Own(ctx, state)
	}
	if err != nil {
		return messages.State{}, err
	}
	return state, nil
}

// Run returns the State of the caller's run. Errors: forbidden, not_found.
func (d *Door) Run(ctx context.Context, id messages.RunID) (messages.State, error) {
	return d.owned(ctx, auth.ReadRuns, id)
}

// owned is Own for callers that have the scope.
func (d *Door) owned(ctx context.Context, scope auth.Scope, id messages.RunID) (messages.State, error) {
	if err := auth.Require(ctx, scope); err != nil {
		return messages.State{}, err
	}
	return d.Own(ctx, id)
}

// change calls do with the caller's name, if the caller may change the run. Errors: forbidden, not_found.
func (d *Door) change(ctx context.Context, id messages.RunID, do func(by string) error) error {
	_, err := d.owned(ctx, auth.WriteRuns, id)
	if err == nil {
		err = do(auth.From(ctx).Name)
	}
	return err
}

// List returns the caller's runs. Errors: forbidden, and the runtime's errors.
func (d *Door) List(ctx context.Context, q messages.Query) ([]messages.Summary, error) {
	if err := auth.Require(ctx, auth.ReadRuns); err != nil {
		return nil, err
	}
	p := auth.From(ctx)
	q.Principal, q.Everyone = p.Name, false
	list, err := d.Runs.List(ctx, q)
	if p.Inside != nil {
		list = stable.DeleteFunc(list, func(s messages.Summary) bool { return !p.Inside.Has(s.RunID) })
	}
	return list, err
}

// Page returns a page of the caller's runs, the last queued first, and the cursor of the next page. The cursor "" asks
// for the first page; next is "" after the last one. Errors: forbidden, invalid_input, and the runtime's errors.
func (d *Door) Page(ctx context.Context, q messages.Query, cursor string) (runs []messages.Summary, next string, err error) {
	q.ByQueued = true
	if cursor != "" {
		text, err := base64.RawURLEncoding.DecodeString(cursor)
		at, id, found := strings.Cut(string(text), " ")
		queued, timeErr := time.Parse(time.RFC3339Nano, at)
		if err != nil || timeErr != nil || !found {
			return nil, "", messages.InvalidInput("the cursor is not from a page of this list; begin without one")
		}
		q.After = &messages.Summary{RunID: messages.RunID(id), QueuedAt: queued}
	}
	if runs, err = d.List(ctx, q); err == nil && len(runs) == q.Most() {
		last := runs[len(runs)-1]
		next = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s %s", last.QueuedAt.Format(time.RFC3339Nano), last.RunID))
	}
	return runs, next, err
}

// Head returns the number of the last event of the caller's run, and whether that event is the terminal. It asks the
// list first, because the State of a run that is not active requires reading its whole log. Errors: forbidden,
// not_found, and reset if the log cannot have the event after.
//
// It is not inlined, so that the stack of a stream keeps no room for the State.
//
//go:noinline
func (d *Door) Head(ctx context.Context, id messages.RunID, after uint64) (head uint64, ended bool, err error) {
	list, err := d.List(ctx, messages.Query{Runs: []messages.RunID{id}, Limit: 1})
	if err == nil && len(list) == 1 && list[0].Status.IsEnded() {
		head, ended = list[0].Seq, true
	} else {
		var state messages.State
		state, err = d.Run(ctx, id)
		head, ended = state.Seq, state.Status.IsEnded()
	}
	if err == nil && (ended && after > head || after > head+messages.Reserve) {
		err = messages.Errorf(messages.CodeReset, "run %s has no event %d; drop the State and begin at 0", id, after)
	}
	return head, ended, err
}

// Attach keeps the caller's attached run alive until ctx is done. Errors: as for Cancel.
func (d *Door) Attach(ctx context.Context, id messages.RunID) error {
	return d.change(ctx, id, func(string) error { return d.Runs.Attach(ctx, id) })
}

// Cancel requests the cancellation of the caller's run. Errors: forbidden, not_found, and the runtime's errors.
func (d *Door) Cancel(ctx context.Context, id messages.RunID, reason string) error {
	return d.change(ctx, id, func(by string) error { return d.Runs.Cancel(ctx, id, by, reason) })
}

// Leave cancels a run whose client has left; ctx is the context of that client's request. It does nothing while the
// server stops, because runs outlive a restart. It gives up after a minute if the store does not answer.
func (d *Door) Leave(ctx context.Context, id messages.RunID) {
	select {
	case <-auth.Draining(ctx):
		return
	default:
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer stop()
	_ = d.Cancel(ctx, id, "the client left") // an error means that the run has ended
}

// Answer answers a question of the caller's run. Errors: forbidden, not_found, conflict, and the runtime's errors.
func (d *Door) Answer(ctx context.Context, by By, id messages.RunID, request string, value json.RawMessage) error {
	run, err := d.owned(ctx, auth.AnswerRuns, id)
	if err == nil {
		err = d.MayAnswer(ctx, by, run, request)
	}
	if err != nil {
		return err
	}
	return d.Runs.Answer(ctx, id, request, value, auth.From(ctx).Name)
}

// Say says something to the caller's run. An interrupt takes what answering the run's open questions takes. What an
// agent or a program says is marked so, and has no secrets. Errors: forbidden, not_found, too_large, and the runtime's
// errors.
func (d *Door) Say(ctx context.Context, by By, id messages.RunID, msg messages.Said) (messages.Message, error) {
	run, err := d.owned(ctx, auth.WriteRuns, id)
	for _, in := range run.Inputs {
		if err == nil && msg.Mode == messages.Interrupt && !in.Closed && !run.Status.IsEnded() {
			err = d.MayAnswer(ctx, by, run, in.Request)
		}
	}
	if err = cmp.Or(err, tooLong(msg.Content)); err != nil {
		return messages.Message{}, err
	}
	by = by.seen(ctx)
	msg.Principal, msg.Door, msg.Agent = auth.From(ctx).Name, ways[by], by == Agent || by == byInside
	if msg.Agent {
		msg.Content = string(d.Redact([]byte(msg.Content)))
	}
	return d.Runs.Send(ctx, id, msg)
}

func tooLong(text string) error {
	if len(text) <= messages.MessageBytes {
		return nil
	}
	return messages.Errorf(auth.CodeTooLarge, "a message has %d bytes at most, not %d; shorten it", messages.MessageBytes, len(text))
}

// Revoke takes a message back that the caller's run has not taken. Errors: as for Cancel, and conflict.
func (d *Door) Revoke(ctx context.Context, id messages.RunID, message string) error {
	return d.change(ctx, id, func(string) error { return d.Runs.Revoke(ctx, id, message) })
}

// Release lets the caller's held run begin. Errors: as for Cancel, and conflict if it is not held.
func (d *Door) Release(ctx context.Context, id messages.RunID) error {
	return d.change(ctx, id, func(by string) error { return d.Runs.Release(ctx, id, by) })
}

// Move gives the caller's run that waits another place. Errors: as for Cancel, conflict if it does not wait, and
// invalid_input if the other does not.
func (d *Door) Move(ctx context.Context, id, before messages.RunID) error {
	return d.change(ctx, id, func(by string) error { return d.Runs.Move(ctx, id, before, by) })
}

// DeleteLog removes the log of an ended run of the caller. Errors: as for Cancel, and conflict if it has not ended.
func (d *Door) DeleteLog(ctx context.Context, id messages.RunID) error {
	state, err := d.owned(ctx, auth.WriteRuns, id)
	if err == nil && auth.From(ctx).Inside != nil {
		err = messages.Errorf(auth.CodeForbidden, "what runs inside a run forgets none; its owner does")
	}
	if err == nil && !state.Status.IsEnded() {
		err = messages.Errorf(messages.CodeConflict, "run %s has not ended; cancel it first", id)
	}
	if err != nil {
		return err
	}
	return d.Runs.DeleteLog(ctx, id)
}

// Forget is DeleteLog.
//
// Deprecated: Use [Door.DeleteLog].
func (d *Door) Forget(ctx context.Context, id messages.RunID) error { return d.DeleteLog(ctx, id) }

// Artifact opens the artifact called name. The caller must have checked that it may read the run. Errors: not_found.
func (d *Door) Artifact(ctx context.Context, run messages.State, name string) (io.ReadSeekCloser, messages.Artifact, error) {
	i := slices.IndexFunc(run.Artifacts, func(a messages.Artifact) bool { return a.Name == name })
	if i < 0 {
		return nil, messages.Artifact{}, messages.Errorf(messages.CodeNotFound, "run %s has no artifact %.200q; its State lists them",
			run.RunID, name)
	}
	file, err := d.openFile(ctx, run, run.Artifacts[i])
	return file, run.Artifacts[i], err
}

// openFile opens an artifact. The caller must have checked that it may read the run. Errors: not_found.
func (d *Door) openFile(ctx context.Context, run messages.State, a messages.Artifact) (io.ReadSeekCloser, error) {
	if d.Open == nil {
		return nil, messages.Errorf(messages.CodeNotFound, "this server keeps no artifacts")
	}
	return d.Open(ctx, run, a)
}

// File reads an artifact of the caller's run. Errors: too_large for files of more than most bytes, and the errors
// of Artifact.
func (d *Door) File(ctx context.Context, id messages.RunID, a messages.Artifact, most int64) ([]byte, error) {
	if a.Bytes > most {
		return nil, messages.Errorf(auth.CodeTooLarge, "the file has more than %d bytes", most)
	}
	run, err := d.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	file, err := d.openFile(ctx, run, a)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

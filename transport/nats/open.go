package nats

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

// Journal is a [journal.Journal] in NATS JetStream. [Open] makes one. It is safe for concurrent use.
type Journal struct {
	nc       *nats.Conn
	js       jetstream.JetStream
	shards   []*shard
	log      *zap.Logger
	salt     [32]byte
	warnings []string

	ctx    context.Context // for background work
	cancel context.CancelFunc
	all    sync.WaitGroup

	claims  claims
	index   index
	hearing hearing
	ledger  ledger
	notes   journal.Notes[journal.Note]
}

var _ journal.Journal = (*Journal)(nil)

// Option is an option of [Open].
type Option func(*options)

// options holds what the options of Open set.
type options struct {
	replicas  int
	streams   int
	retention time.Duration
	log       *zap.Logger
	connect   []nats.Option
	sign      func() (ed25519.PrivateKey, error)
}

// Replicas sets the number of copies of every log. Open never lowers the number of an existing stream. By default, a
// new stream has 3 in a cluster, and 1 on a single server.
func Replicas(n int) Option { return func(o *options) { o.replicas = n } }

// Retention is the longest time that ended runs are kept; the default is 24 hours, as in a System. The stream
// itself removes messages that are older by another week.
func Retention(d time.Duration) Option { return func(o *options) { o.retention = d } }

// Log sets the logger for trouble with the servers. By default nothing is logged.
func Log(log *zap.Logger) Option { return func(o *options) { o.log = log } }

// Credentials names a file with the user's JWT and key.
func Credentials(file string) Option { return Connect(nats.UserCredentials(file)) }

// Connect adds options of the NATS client, for example for TLS.
func Connect(with ...nats.Option) Option {
	return func(o *options) { o.connect = append(o.connect, with...) }
}

// openTimeout is how long Open may take.
const openTimeout = 30 * time.Second

// Open connects to NATS and creates the stream unless it exists. url may be a list with commas. ctx limits only Open
// itself. Close the Journal after the System that uses it.
func Open(ctx context.Context, url string, with ...Option) (*Journal, error) {
	j, o := prepare(with)
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	err := j.connect(url, o)
	if err == nil {
		if err = j.open(ctx, o); errors.Is(j.nc.LastError(), nats.ErrPermissionViolation) {
			err = messages.Errorf(messages.CodeUnavailable, "NATS: %v: allow the user %s", j.nc.LastError(), subjects)
		}
	}
	if err != nil {
		_ = j.Close()
		return nil, err
	}
	return j, nil
}

// prepare returns a journal without a connection.
func prepare(with []Option) (*Journal, options) {
	o := options{retention: 24 * time.Hour}
	for _, f := range with {
		f(&o)
	}
	o.log = cmp.Or(o.log, zap.NewNop())
	j := &Journal{log: o.log, index: index{ready: make(chan struct{}), runs: map[messages.RunID]*row{}, open: map[messages.RunID]*row{},
		gaps: map[gap]bool{}}, hearing: hearing{runs: map[messages.RunID]*heard{}}, ledger: ledger{sign: journal.Signer{Read: o.sign}, at: map[string]journal.Ledger{}}}
	j.ctx, j.cancel = context.WithCancel(context.Background())
	return j, o
}

// subjects are those that the user must be allowed to publish and subscribe to.
const subjects = "run.>, part.>, shard.>, ledger.>, line.>, live.>, lend.>, cmd.>, $KV.STATE.>, $JS.API.>, $JS.ACK.> and _INBOX.>"

// open prepares the stream and the claims, and reads the index. Each step is repeated while another node is at it.
func (j *Journal) open(ctx context.Context, o options) (err error) {
	if j.js, err = jetstream.New(j.nc); err != nil {
		return err
	}
	if err = j.openShards(ctx, o, true); err != nil {
		return explained(err)
	}
	for _, s := range j.shards {
		j.warnings = append(j.warnings, durabilityWarnings(s.stream.CachedInfo().Config)...)
		if err = retry(ctx, s.openClaims, jetstream.JSErrCodeStreamNotFound); err != nil {
			return explained(err)
		}
	}
	// These subscriptions serve every Watch of this journal. The other blocks are heard by hear.
	for _, kind := range []string{opening, change, "gone"} {
		if err == nil {
			_, err = j.nc.Subscribe("live.*."+kind, j.onHeader)
		}
	}
	if err == nil {
		_, err = j.nc.Subscribe("cmd.>", j.onCommand)
	}
	if err == nil {
		err = j.nc.FlushWithContext(ctx)
	}
	if err != nil {
		return err
	}
	if err = j.readIndex(ctx); err == nil {
		err = j.openLedger(ctx)
	}
	return explained(err)
}

// readSalt reads the salt in the stream's metadata.
func (j *Journal) readSalt() error {
	salt := j.shards[0].stream.CachedInfo().Config.Metadata[saltKey]
	if _, err := hex.Decode(j.salt[:], []byte(salt)); err != nil || len(salt) != 64 {
		return messages.Errorf(messages.CodeUnavailable,
			"stream %s was not made by lastword: remove it, or give lastword a separate NATS account", streamName)
	}
	return nil
}

// Close ends the connection. Runs that this node holds are lent to another node after 10 seconds.
func (j *Journal) Close() error {
	j.claims.mu.Lock()
	j.cancel() // from now on, no work begins
	j.claims.mu.Unlock()
	for _, feed := range j.index.feeds {
		feed.Stop()
	}
	j.ledger.entering.Wait()
	if j.nc != nil {
		j.nc.Close()
	}
	j.all.Wait()
	return nil
}

// Warnings says how the servers may lose acknowledged blocks, as far as they tell their clients.
func (j *Journal) Warnings() []string { return j.warnings }

// Salt implements [journal.Journal].
func (j *Journal) Salt() [32]byte { return j.salt }

// connect connects, and reconnects without limit. Notes may get lost while there is no connection, so readers are woken
// after it.
func (j *Journal) connect(at string, o options) (err error) {
	reconnected := func(*nats.Conn) {
		j.log.Info("connected to NATS again")
		j.notes.Tell("", journal.Note{}) // notes may have been lost
	}
	cut := func(_ *nats.Conn, err error) {
		if err != nil {
			j.log.Warn("lost the connection to NATS", zap.Error(err))
		}
	}
	trouble := func(_ *nats.Conn, _ *nats.Subscription, err error) {
		j.log.Warn("NATS", zap.Error(err))
		if errors.Is(err, nats.ErrSlowConsumer) {
			j.notes.Tell("", journal.Note{})
		}
	}
	j.nc, err = nats.Connect(at, append(o.connect, nats.Name("lastword"), nats.MaxReconnects(-1),
		nats.ReconnectWait(250*time.Millisecond), nats.ReconnectBufSize(-1), // do not send later what cannot be sent now
		nats.ReconnectHandler(reconnected), nats.DisconnectErrHandler(cut), nats.ErrorHandler(trouble))...)
	if err != nil {
		return refused(at, err)
	}
	return nil
}

// refused returns the error for a failed connection, which says what to do.
func refused(at string, err error) error {
	say := func(advice string) error {
		return messages.Errorf(messages.CodeUnavailable, "NATS at %s: %v: %s", redacted(at), err, advice)
	}
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return say("check the user and password in the URL, or the credentials file")
	case errors.Is(err, nats.ErrNoServers), errors.Is(err, nats.ErrTimeout):
		return say("check the URL, and that nats-server -js runs there")
	}
	return say("check the URL and the credentials")
}

// redacted hides the passwords in a list of URLs.
func redacted(list string) string {
	urls := strings.Split(list, ",")
	for i, at := range urls {
		if u, err := url.Parse(strings.TrimSpace(at)); err == nil {
			urls[i] = u.Redacted()
		} else {
			urls[i] = "(not a URL)"
		}
	}
	return strings.Join(urls, ",")
}

const (
	streamName = "RUNS"
	// saltKey is the key of the salt in the stream's metadata. The node that creates the stream creates the salt.
	saltKey = "lastword-salt"
	// longestLife is the longest time that a run may take, including the wait for people. The stream removes messages
	// by age, and must keep the first message of a run as long as the run and its retention last.
	longestLife = 7 * 24 * time.Hour
)

// makeStream creates the stream. Without a number of replicas it tries 3, and 1 if the server is no cluster.
func (j *Journal) makeStream(ctx context.Context, s *shard, o options) (jetstream.Stream, error) {
	config := jetstream.StreamConfig{
		Name:        s.name,
		Description: "the runs of lastword",
		Subjects:    []string{s.run + ".>", s.part + ".>"},
		Storage:     jetstream.FileStorage,
		Discard:     jetstream.DiscardNew,
		MaxAge:      longestLife + o.retention,
		Replicas:    o.replicas,
		AllowDirect: true,
		RePublish:   &jetstream.RePublish{Source: s.run + ".>", Destination: "live.>", HeadersOnly: true},
	}
	if s.name == streamName {
		var salt [32]byte
		_, _ = rand.Read(salt[:]) // it never fails
		config.Metadata = map[string]string{saltKey: hex.EncodeToString(salt[:])}
		if o.streams > 1 {
			config.Metadata[streamsKey] = strconv.Itoa(o.streams)
		}
	}
	if o.replicas == 0 {
		config.Replicas = 3
	}
	stream, err := j.js.CreateStream(ctx, config)
	if o.replicas == 0 && codeOf(err) == errNotClustered {
		config.Replicas = 1
		stream, err = j.js.CreateStream(ctx, config)
	}
	if codeOf(err) == jetstream.JSErrCodeStreamNameInUse { // another node was faster
		return j.js.Stream(ctx, s.name)
	}
	return stream, err
}

// Error codes of JetStream that the client library does not name.
const (
	errNoPeers      jetstream.ErrorCode = 10005
	errNotClustered jetstream.ErrorCode = 10074
	errOverlaps     jetstream.ErrorCode = 10065
	errNoLeader     jetstream.ErrorCode = 10008
	// errHeaderExceeds means more than 64 kB of headers.
	errHeaderExceeds jetstream.ErrorCode = 10097
)

// errFull are the error codes for limits: of the account, of a server's memory or disk, of the stream.
var errFull = []jetstream.ErrorCode{10002, 10023, 10028, 10047, 10077}

func codeOf(err error) jetstream.ErrorCode {
	if e, ok := errors.AsType[jetstream.JetStreamError](err); ok && e.APIError() != nil {
		return e.APIError().ErrorCode
	}
	return 0
}

// explained turns an error of JetStream into one that says what to do. Its code is journal_unavailable, because it
// affects more than one run.
func explained(err error) error {
	if _, says := errors.AsType[*messages.Error](err); err == nil || says {
		return err
	}
	if errors.Is(err, nats.ErrReconnectBufExceeded) { // the error itself says no more
		return messages.Errorf(messages.CauseJournalUnavailable,
			"there is no connection to NATS: start nats-server; lastword goes on trying")
	}
	advice := "look at the log of nats-server"
	switch code := codeOf(err); {
	case code == jetstream.JSErrCodeJetStreamNotEnabled, code == jetstream.JSErrCodeJetStreamNotEnabledForAccount:
		advice = "start nats-server with -js, and enable JetStream for the account"
	case code == errNoPeers, code == errNotClustered:
		advice = "the servers have no room for so many replicas: start the missing servers, or ask for fewer replicas"
	case code == errOverlaps:
		advice = "another stream has the subjects run.>, part.>, shard.> or line.>: give lastword a separate NATS account"
	case slices.Contains(errFull, code):
		advice = "make room on the disk, or raise the limits of the stream and the account"
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse), errors.Is(err, context.DeadlineExceeded):
		advice = "JetStream does not answer: start nats-server with -js, and check that the cluster has a leader"
	}
	return messages.Errorf(messages.CauseJournalUnavailable, "JetStream: %v: %s", err, advice)
}

// durabilityWarnings says how a stream may lose acknowledged blocks.
func durabilityWarnings(c jetstream.StreamConfig) (all []string) {
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if c.Replicas < 2 {
		add("stream %s has one replica: its runs are lost with its server, and with the default sync_interval a power cut "+
			"loses the last two minutes. Run three servers, or set sync_interval: always.", c.Name)
	}
	if c.Storage != jetstream.FileStorage {
		add("stream %s is in memory: its runs are lost when the servers stop.", c.Name)
	}
	if c.PersistMode == jetstream.AsyncPersistMode {
		add("stream %s is written behind (persist_mode async): a killed server loses what it acknowledged.", c.Name)
	}
	if c.Discard != jetstream.DiscardNew && (c.MaxBytes > 0 || c.MaxMsgs > 0 || c.MaxMsgsPerSubject > 0) {
		add("stream %s discards its oldest messages when it is full, and with them the beginnings of logs. Set discard: new.", c.Name)
	}
	return all
}

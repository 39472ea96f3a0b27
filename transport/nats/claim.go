package nats

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"go.uber.org/zap"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

const (
	// beatEvery is how often a node must confirm that it holds a claim. If it does not for four times as long, the
	// consumer lends the run to another node.
	beatEvery = 2500 * time.Millisecond
	// pullTimeout is how long the server holds a request for a work item.
	pullTimeout = 4 * beatEvery
	// handTimeout is how long a node may take to accept a work item that it wrote itself.
	handTimeout = 2 * time.Second
)

// claims distributes work items among the callers of Claim. mu guards the fields below it.
type claims struct {
	mu      sync.Mutex
	nodes   map[string]bool // the nodes for which this journal accepts work items
	waiting []*claimer      // callers of Claim that wait
	kept    []item          // items for nodes of this journal that are not waiting at the moment
	failed  time.Time       // when JetStream last failed to lend an item
}

// claimer is a waiting call of Claim.
type claimer struct {
	node string
	got  chan journal.Claim
}

// item is a claim that is kept for the node that wrote the run.
type item struct {
	node  string
	claim journal.Claim
	until time.Time // when JetStream lends the item again
}

// openClaims opens the consumer that lends work items. JetStream lends an item again if its node does not beat for four
// intervals.
func (s *shard) openClaims(ctx context.Context) (err error) {
	if s.claims, err = s.stream.Consumer(ctx, "claims"); !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return err
	}
	s.claims, err = s.stream.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: "claims", FilterSubject: s.run + ".*." + opening, HeadersOnly: true, AckPolicy: jetstream.AckExplicitPolicy,
		AckWait: 4 * beatEvery, MaxDeliver: -1, MaxAckPending: -1, MaxWaiting: mostPulls,
	})
	return err
}

// mostPulls is how many nodes may wait for a work item of a stream. It cannot change: a consumer of an older version has
// the server's default of 512.
const mostPulls = 8192

// Claim implements [journal.Journal].
func (j *Journal) Claim(ctx context.Context, node string) (journal.Claim, error) {
	if err := j.present(node); err != nil {
		return journal.Claim{}, err
	}
	w := &claimer{node: node, got: make(chan journal.Claim, 1)}
	if ctx.Err() != nil {
		return j.claimReady(ctx, w)
	}
	j.await(w, true)
	select {
	case c := <-w.got:
		return c, nil
	case <-ctx.Done():
	case <-j.ctx.Done():
	}
	if c, ok := j.leave(w); ok {
		return c, nil
	}
	if j.ctx.Err() != nil {
		return journal.Claim{}, errClosed
	}
	return journal.Claim{}, context.Cause(ctx)
}

// claimReady returns a claim that is available without waiting.
func (j *Journal) claimReady(ctx context.Context, w *claimer) (journal.Claim, error) {
	j.await(w, false)
	var err error
	for _, s := range j.shards {
		for more := true; more && err == nil && len(w.got) == 0; { // a pulled item may belong to another node
			more, err = j.pullReady(s)
		}
	}
	c, ok := j.leave(w)
	switch {
	case ok:
		return c, nil
	case err != nil:
		return c, explained(err)
	}
	return c, context.Cause(ctx)
}

// pullReady lends one work item, if the stream has one, and reports whether it had.
func (j *Journal) pullReady(s *shard) (any bool, err error) {
	found, err := s.claims.FetchNoWait(1)
	if err != nil {
		return false, err
	}
	select {
	case m, ok := <-found.Messages():
		if ok {
			j.lend(m)
		}
		return ok, found.Error()
	case <-time.After(askTimeout):
		return false, context.DeadlineExceeded
	}
}

// present tells the other nodes that this journal accepts work items of the node.
func (j *Journal) present(node string) error {
	j.claims.mu.Lock()
	defer j.claims.mu.Unlock()
	if j.claims.nodes[node] {
		return nil
	}
	_, err := j.nc.Subscribe(lendOf(node), func(m *nats.Msg) {
		var c handed
		if json.Unmarshal(m.Data, &c) == nil && j.give(node, claimOf(c.Run, c.Token)) {
			_ = m.Respond(nil)
		}
	})
	if err != nil {
		return err
	}
	if j.claims.nodes == nil {
		j.claims.nodes = map[string]bool{}
	}
	j.claims.nodes[node] = true
	return nil
}

// holds reports whether this journal accepts work items of the node.
func (j *Journal) holds(node string) bool {
	j.claims.mu.Lock()
	defer j.claims.mu.Unlock()
	return j.claims.nodes[node]
}

// lendOf returns the subject on which a node receives its own work items.
func lendOf(node string) string { return "lend." + base64.RawURLEncoding.EncodeToString([]byte(node)) }

// handed is a work item in transit to the node that wrote it. Token is the subject of its acknowledgements.
type handed struct {
	Run   messages.RunID `json:"run"`
	Token string         `json:"token"`
}

func claimOf(run messages.RunID, token string) journal.Claim {
	return journal.Claim{Run: run, Every: beatEvery, Token: token}
}

// await registers a claimer, or gives it an item that was kept for its node.
func (j *Journal) await(w *claimer, pull bool) {
	c := &j.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.kept = slices.DeleteFunc(c.kept, func(i item) bool { return now.After(i.until) })
	if i := slices.IndexFunc(c.kept, func(i item) bool { return i.node == w.node }); i >= 0 {
		w.got <- c.kept[i].claim
		c.kept = slices.Delete(c.kept, i, i+1)
		return
	}
	c.waiting = append(c.waiting, w)
	for _, s := range j.shards {
		if pull && !s.pulling && j.ctx.Err() == nil {
			s.pulling = true
			j.all.Go(func() { j.pull(s) })
		}
	}
}

// leave removes a claimer. It may have received a claim in the meantime.
func (j *Journal) leave(w *claimer) (c journal.Claim, ok bool) {
	j.claims.mu.Lock()
	defer j.claims.mu.Unlock()
	j.claims.waiting = slices.DeleteFunc(j.claims.waiting, func(x *claimer) bool { return x == w })
	select {
	case c = <-w.got:
		return c, true
	default:
		return c, false
	}
}

// give gives a claim to a waiting claimer of the node, or to any if node is "". It reports whether there was one.
func (j *Journal) give(node string, claim journal.Claim) bool {
	c := &j.claims
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.waiting, func(w *claimer) bool { return node == "" || w.node == node })
	switch {
	case i >= 0:
		c.waiting[i].got <- claim
		c.waiting = slices.Delete(c.waiting, i, i+1)
	case node != "" && c.nodes[node]:
		c.kept = append(c.kept, item{node, claim, time.Now().Add(4 * beatEvery)})
	default:
		return false
	}
	return true
}

// pull fetches work items of the stream as long as a claimer waits.
func (j *Journal) pull(s *shard) {
	for j.wanted(s) {
		ctx, cancel := context.WithTimeout(j.ctx, pullTimeout)
		found, err := s.claims.Fetch(1, jetstream.FetchContext(ctx))
		if err == nil {
			for m := range found.Messages() {
				j.all.Go(func() { j.lend(m) })
			}
			err = found.Error()
		}
		cancel()
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			continue
		}
		if j.ctx.Err() == nil && !j.failed() {
			j.log.Warn("JetStream lends no runs", zap.Error(err))
		}
		j.claims.mu.Lock()
		j.claims.failed = time.Now()
		j.claims.mu.Unlock()
		pause(j.ctx, beatEvery/10)
	}
}

// failed reports whether JetStream could not lend items a moment ago.
func (j *Journal) failed() bool {
	j.claims.mu.Lock()
	defer j.claims.mu.Unlock()
	return time.Since(j.claims.failed) < 2*beatEvery
}

// wanted reports whether a claimer waits. If not, it marks the pulling as ended.
func (j *Journal) wanted(s *shard) bool {
	j.claims.mu.Lock()
	defer j.claims.mu.Unlock()
	s.pulling = len(j.claims.waiting) > 0 && j.ctx.Err() == nil
	return s.pulling
}

// lend passes on a work item. The first time, it goes to the node that wrote it, wherever that is. Later, or if that
// node has left, it goes to a claimer here.
func (j *Journal) lend(m jetstream.Msg) {
	run, _ := runOf(m.Subject(), m.Headers())
	meta, err := m.Metadata()
	block, bad := markOf(m.Headers())
	if err != nil || bad != nil {
		j.log.Error("a work item is damaged", zap.String("run", string(run)), zap.Error(errors.Join(err, bad)))
		return
	}
	if meta.NumDelivered > 1 && j.failed() {
		return // the owner could not beat either; if it has ended, the item is lent again
	}
	claim := claimOf(run, m.Reply())
	if meta.NumDelivered == 1 && block.Writer != "" && j.hand(block.Writer, claim) {
		return
	}
	if !j.give("", claim) {
		_ = m.Nak()
	}
}

// hand gives a work item to the node that wrote it, here or at another journal. It returns false if that node has left.
func (j *Journal) hand(writer string, claim journal.Claim) bool {
	if j.give(writer, claim) {
		return true
	}
	data, err := json.Marshal(handed{claim.Run, claim.Token.(string)})
	if err == nil {
		ctx, cancel := context.WithTimeout(j.ctx, handTimeout)
		_, err = j.nc.RequestWithContext(ctx, lendOf(writer), data)
		cancel()
	}
	return !errors.Is(err, nats.ErrNoResponders) // a node that does not answer gets the item lent again later
}

// Keep implements [journal.Journal].
func (j *Journal) Keep(ctx context.Context, c journal.Claim, k journal.ClaimState) error {
	token, ok := c.Token.(string)
	if !ok {
		return messages.Errorf(messages.CodeUnavailable, "the claim of run %s is not this journal's", c.Run)
	}
	switch k {
	case journal.Held:
		return j.nc.Publish(token, []byte("+WPI"))
	case journal.Released:
		return j.nc.Publish(token, []byte("-NAK"))
	default:
		return j.finish(ctx, c.Run, token)
	}
}

// finish removes a work item, once the ledger has the run's end. If the log has no terminal, the run is lent again
// instead.
func (j *Journal) finish(ctx context.Context, run messages.RunID, token string) error {
	last, err := j.last(ctx, run)
	switch {
	case err != nil && messages.CodeOf(err) != messages.CodeNotFound:
		return err
	case err == nil && !last.ended():
		return nil
	case err == nil:
		if err = j.enterEnd(ctx, run, last); err != nil {
			return err
		}
	}
	return retry(ctx, func(ctx context.Context) error {
		_, err := j.nc.RequestWithContext(ctx, token, []byte("+ACK"))
		return err
	})
}

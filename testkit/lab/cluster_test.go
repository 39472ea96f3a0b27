//go:build unix

package lab_test

import (
	"fmt"
	"testing"
)

// TestCluster runs three NATS servers and three nodes as processes, in real time, and talks to every node over HTTP.
// make cluster runs all of it. CI, and make test, leave out what takes long.
func TestCluster(t *testing.T) {
	c := startCluster(t, root, "--nats-streams", "3", "--model-tokens-per-day", fmt.Sprint(tokensEach))
	for _, s := range []struct {
		name string
		long bool
		test func(*cluster)
	}{
		{"every node serves every run", false, (*cluster).everywhere},
		{"a key is one run at every node", false, (*cluster).keys},
		{"a caller's quota counts at every node", false, (*cluster).quota},
		{"the tokens of a day are counted once for all nodes", false, (*cluster).tokensOfADay},
		{"a killed node loses its runs to another", false, (*cluster).killedNode},
		{"a plan goes on at another node", false, (*cluster).plan},
		{"each message to a run is delivered once, whatever is killed", true, (*cluster).messages},
		{"a paused node loses its runs, and stops its tasks", true, (*cluster).pausedNode},
		{"a node that is cut off loses its runs, and stops its tasks", true, (*cluster).cutNode},
		{"a node that is stopped hands its runs over", false, (*cluster).handedOver},
		{"a rolling restart fails no run", true, (*cluster).rolling},
		{"the ledgers of all nodes have every end", false, (*cluster).proven},
		{"of four nodes that set a shared value one does", false, (*cluster).shared},
		{"of four writers at one head one lands", true, (*cluster).writers},
		{"a killed NATS server costs no run", true, (*cluster).killedStore},
		{"without NATS servers no run starts, and with them again all is well", true, (*cluster).stoppedStores},
	} {
		if s.long && !c.long {
			continue
		}
		ok := t.Run(s.name, func(t *testing.T) {
			c := *c
			c.TB = t
			s.test(&c)
		})
		if !ok {
			t.FailNow() // the nodes are not as the next expects them
		}
	}
}

//go:build unix

package lab_test

import (
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// proven verifies what all nodes have done so far. The first one trusts the others once its key has signed theirs.
func (c *cluster) proven() {
	n := c.nodes[0]
	command := func(args ...string) (string, error) {
		run := exec.Command(n.args[0], append(args, "--nats", strings.Join(c.urls, ","))...)
		run.Env = n.env
		out, err := run.CombinedOutput()
		return string(out), err
	}
	if out, err := command("verify", "--all"); err == nil || !strings.Contains(out, "trusted: no") {
		c.Errorf("without the keys of the others: %v\n%s", err, out)
	}
	keys, err := command("key")
	if err == nil {
		_, err = command("key", "--sign", strings.Join(strings.Fields(keys), ","))
	}
	if err != nil {
		c.Fatalf("%v\n%s", err, keys)
	}
	eventually(c, time.Minute, "the ledgers have every end", func() error { // a lost run is lent again after 10 s
		out, err := command("verify", "--all")
		if err != nil {
			err = fmt.Errorf("%w: %s", err, out)
		}
		return err
	})
}

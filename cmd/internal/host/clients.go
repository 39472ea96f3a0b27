package host

import (
	"sync"

	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/transport/llm"
)

// clients are those of the servers that were asked, one for each. The zero value has none and is safe for concurrent
// use.
type clients struct {
	mu       sync.Mutex
	byServer map[serverKey]*llm.Client
}

// serverKey is what tells two servers apart: a guessed one is not to see the keys that a named one is.
type serverKey struct {
	url     string
	guessed bool
}

func (c *clients) of(at settings.Endpoint) (*llm.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	which := serverKey{at.URL(), at.Guessed}
	if client := c.byServer[which]; client != nil {
		return client, nil
	}
	client, err := at.Client(0)
	if err != nil {
		return nil, err
	}
	if c.byServer == nil {
		c.byServer = map[serverKey]*llm.Client{}
	}
	c.byServer[which] = client
	return client, nil
}

func (c *clients) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, client := range c.byServer {
		client.Close()
	}
}

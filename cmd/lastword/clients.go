package main

import (
	"sync"

	"github.com/seed889630bf/lastword/transport/llm"
)

// clients are those of the servers that were asked, one for each. The zero value has none and is safe for concurrent
// use.
type clients struct {
	mu   sync.Mutex
	made map[called]*llm.Client
}

// called is what tells two servers apart: a guessed one is not to see the keys that a named one is.
type called struct {
	url     string
	guessed bool
}

func (c *clients) of(at endpoint) (*llm.Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	which := called{at.url(), at.guessed}
	if client := c.made[which]; client != nil {
		return client, nil
	}
	client, err := at.client(0)
	if err != nil {
		return nil, err
	}
	if c.made == nil {
		c.made = map[called]*llm.Client{}
	}
	c.made[which] = client
	return client, nil
}

func (c *clients) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, client := range c.made {
		client.Close()
	}
}

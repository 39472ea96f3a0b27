package source

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// listening is what a connection to a server of 2026-07-28 or later hears of. mu of the connection guards it.
type listening struct {
	resources map[string]bool    // by URI
	again     context.CancelFunc // opens the stream anew; nil before the first
}

// listen hears of changed lists and resources until ctx is done. A server that ends the stream is asked again later.
func (c *connection) listen(ctx context.Context) {
	for ctx.Err() == nil && !c.link.lost() {
		stream, stop := context.WithCancel(ctx)
		filter := mcp.SubscriptionFilter{ToolsListChanged: true, PromptsListChanged: true, ResourcesListChanged: true}
		c.mu.Lock()
		filter.ResourceSubscriptions = slices.Collect(maps.Keys(c.hears.resources))
		c.hears.again = stop
		c.mu.Unlock()
		err := c.client.Listen(stream, filter)
		if errors.Is(err, mcp.ErrMethodNotFound) {
			stop()
			return
		}
		select {
		case <-stream.Done():
		case <-time.After(longestPause):
			stop()
		}
	}
}

// subscribe changes the resources that the connection hears of, if it hears of any that way.
func (c *connection) subscribe(uri string, wanted bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.standing.Version == "" || c.hears.resources[uri] == wanted {
		return
	}
	if c.hears.resources == nil {
		c.hears.resources = map[string]bool{}
	}
	if c.hears.resources[uri] = wanted; !wanted {
		delete(c.hears.resources, uri)
	}
	if c.hears.again != nil {
		c.hears.again()
	}
}

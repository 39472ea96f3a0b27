package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// stream starts a run, answers with its id at once, and has its result follow in chunks.
func (s *Server) stream(ctx context.Context, x *wire.Exchange, t *JobTool, arguments json.RawMessage, wish pacing) (
	*mcp.CallToolResult, error) {
	state, err := s.Start(ctx, t.Name, arguments, StartOptions{Mode: messages.Detached})
	if err != nil {
		return nil, err
	}
	token := x.ProgressToken()
	if token == nil {
		token, _ = json.Marshal(state.RunID) // a string always can
	}
	x.Reply(streamReply(x, state, token))
	x.Follow(func(ctx context.Context, notify func(string, any) error) {
		ctx, end := context.WithCancelCause(ctx)
		defer end(nil)
		defer s.chunks.add(state.RunID, end)()
		c := &chunkStream{id: state.RunID, pause: wish.pause,
			progress: newProgress(token, notify, s.config.Heartbeat, 0)}
		defer c.progress.stop()
		c.follow(ctx, s.config.Runs)
		if ctx.Err() != nil {
			s.leave(ctx, state.RunID, messages.Detached)
		}
	})
	return &mcp.CallToolResult{}, nil
}

// streamReply is the result of a call whose chunks follow. Besides what the protocol wants of every tool's result it is
// {streamId, _meta: {progressToken, streaming}}.
//
// A run that is over already has no result in it either, which may be long: that is what follows.
func streamReply(x *wire.Exchange, state messages.State, token json.RawMessage) any {
	run := runResult(state, nil)
	run.Result = nil
	reply := map[string]any{
		"streamId": state.RunID,
		"_meta":    map[string]any{"progressToken": token, "streaming": true},
		"content":  []mcp.Content{mcp.NewTextContent("The result follows in chunks.")},
		"structuredContent": struct {
			RunResult
			StreamID messages.RunID `json:"streamId"`
		}{run, state.RunID},
	}
	if x.Modern() {
		reply["resultType"] = "complete"
	}
	return reply
}

// chunkStream tells the result of a run in chunks, and how it ended, once.
type chunkStream struct {
	id       messages.RunID
	pause    time.Duration
	progress *progress
	told     int // chunks
}

// errStreamCanceled ends a stream whose run was asked to end, which may be over already.
var errStreamCanceled = errors.New("the stream was canceled")

// follow waits for the run's terminal and tells it. A client that is gone is told nothing.
func (c *chunkStream) follow(ctx context.Context, runs Runs) {
	c.progress.say(0, 0, "started", nil)
	for e, err := range runs.Events(ctx, c.id, 0) {
		switch {
		case ctx.Err() != nil:
			c.end(streamEnd{Status: Canceled})
			return
		case err != nil:
			c.end(streamEnd{Status: Failed, Error: sayable(err)})
			return
		case e.IsTerminal():
			c.tell(ctx, e.Body)
			return
		}
	}
}

func (c *chunkStream) tell(ctx context.Context, terminal messages.Body) {
	switch b := terminal.(type) {
	case messages.RunCompleted:
		if !c.chunks(ctx, chunksOf(b.Result)) {
			c.end(streamEnd{Status: Canceled})
			return
		}
		c.end(streamEnd{Status: Completed, TotalChunks: &c.told})
	case messages.RunFailed:
		c.end(streamEnd{Status: Failed, Error: runError(b.Error)})
	default:
		c.end(streamEnd{Status: Canceled})
	}
}

// chunkOf is a chunk as clients are told it.
type chunkOf struct {
	StreamID messages.RunID  `json:"stream_id"`
	Number   int             `json:"chunk_num"`
	Total    int             `json:"total"`
	Data     json.RawMessage `json:"data"`
}

// chunks tells all of them and reports whether it was left to.
func (c *chunkStream) chunks(ctx context.Context, all []json.RawMessage) bool {
	for i, data := range all {
		if i > 0 && !rest(ctx, c.pause) || ctx.Err() != nil {
			return false
		}
		c.told++
		c.progress.say(float64(c.told), float64(len(all)), chunkInShort(data),
			map[string]any{Vendor + "chunk": chunkOf{c.id, c.told, len(all), data}})
	}
	return true
}

// streamEnd is how a stream ended, as clients are told it.
type streamEnd struct {
	StreamID    messages.RunID `json:"stream_id"`
	Status      RunStatus      `json:"status"`
	TotalChunks *int           `json:"total_chunks,omitempty"`
	Error       *RunError      `json:"error,omitempty"`
}

func (c *chunkStream) end(how streamEnd) {
	how.StreamID = c.id
	number, total := float64(c.told+1), 0.0
	if how.Status == Completed {
		total = number
	}
	c.progress.say(number, total, string(how.Status), map[string]any{Vendor + "stream": how})
}

func rest(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// chunksOf splits a result: the elements of a list or of the list called chunks, or else the one value.
func chunksOf(result json.RawMessage) []json.RawMessage {
	if len(result) == 0 {
		return nil
	}
	var list []json.RawMessage
	if result[0] == '[' && json.Unmarshal(result, &list) == nil {
		return list
	}
	var object struct {
		Chunks *[]json.RawMessage `json:"chunks"`
	}
	if result[0] == '{' && json.Unmarshal(result, &object) == nil && object.Chunks != nil {
		return *object.Chunks
	}
	return []json.RawMessage{result}
}

func chunkInShort(data json.RawMessage) string {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return clip(text)
	}
	return clip(string(data))
}

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/mcp/wire"
)

// streamSchema is the optional argument of a chunked tool that has its result streamed.
const streamSchema = `{"description":"Answers at once with a stream's id; the result follows as numbered chunks in ` +
	`progress notifications, chunkDelayMs apart.","anyOf":[{"type":"boolean"},{"type":"object","properties":` +
	`{"chunkDelayMs":{"type":"integer","minimum":0,"maximum":60000}},"additionalProperties":false}]}`

// longestPause is the most that a caller may have between two chunks.
const longestPause = time.Minute

// pacing is how a caller wants the chunks.
type pacing struct{ pause time.Duration }

// streaming takes the wish for a stream from beside the arguments or from among them; beside wins. It returns the
// arguments without it, and nil where a plain result is wanted.
func (t *JobTool) streaming(params, arguments json.RawMessage) (json.RawMessage, *pacing, error) {
	var beside struct {
		Stream json.RawMessage `json:"stream"`
	}
	if bytes.Contains(params, []byte(`"stream"`)) {
		if err := json.Unmarshal(params, &beside); err != nil {
			return nil, nil, invalid("the parameters cannot be read: %v", err)
		}
	}
	arguments, within, err := t.withoutStream(arguments)
	if err != nil {
		return nil, nil, err
	}
	if beside.Stream != nil {
		within = beside.Stream
	}
	wish, err := readStream(within)
	if err == nil && wish != nil && !t.Chunked {
		err = invalid("the tool %s has no chunks to stream; give the call a progress token, and its events are streamed", t.Name)
	}
	return arguments, wish, err
}

// withoutStream takes the flag out of the arguments, unless the job has an argument of that name itself.
func (t *JobTool) withoutStream(arguments json.RawMessage) (rest, stream json.RawMessage, err error) {
	if t.ownsFlag || !bytes.Contains(arguments, []byte(`"stream"`)) {
		return arguments, nil, nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(arguments, &fields); err != nil {
		return nil, nil, invalid("the arguments are not an object: %v", err)
	}
	stream = fields["stream"]
	delete(fields, "stream")
	rest, err = json.Marshal(fields)
	return rest, stream, err
}

func readStream(raw json.RawMessage) (*pacing, error) {
	switch string(raw) {
	case "", "null", "false":
		return nil, nil
	case "true":
		return &pacing{}, nil
	}
	var wish struct {
		ChunkDelayMS int64 `json:"chunkDelayMs"`
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	pause := time.Duration(0)
	err := d.Decode(&wish)
	if err == nil && (wish.ChunkDelayMS < 0 || wish.ChunkDelayMS > longestPause.Milliseconds()) {
		err = errPause
	}
	if err != nil {
		return nil, invalid(`stream is true, false or {"chunkDelayMs": 0 to %d}, not %s`, longestPause.Milliseconds(), clip(string(raw)))
	}
	pause = time.Duration(wish.ChunkDelayMS) * time.Millisecond
	return &pacing{pause}, nil
}

var errPause = errors.New("out of bounds")

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
func streamReply(x *wire.Exchange, state messages.State, token json.RawMessage) any {
	reply := map[string]any{
		"streamId": state.RunID,
		"_meta":    map[string]any{"progressToken": token, "streaming": true},
		"content":  []mcp.Content{mcp.NewTextContent("The result follows in chunks, as stream " + string(state.RunID) + ".")},
		"structuredContent": struct {
			RunResult
			StreamID messages.RunID `json:"streamId"`
		}{runResult(state, nil), state.RunID},
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

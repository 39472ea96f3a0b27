package mcp

import (
	"bytes"
	"encoding/json"
	"time"
)

// streamSchema is the optional argument of a chunked tool that has its result streamed.
const streamSchema = `{"description":"Answers at once with a stream's id; the result follows as numbered chunks in ` +
	`progress notifications, chunkDelayMs apart.","anyOf":[{"type":"boolean"},{"type":"object","properties":` +
	`{"chunkDelayMs":{"type":"integer","minimum":0,"maximum":60000}},"additionalProperties":false}]}`

// longestPauseMS is the most that a caller may have between two chunks, in milliseconds.
const longestPauseMS = 60_000

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
		err = invalid("the tool %s has no chunks; give the call a progress token to have its events streamed", t.Name)
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
	if err := d.Decode(&wish); err != nil || wish.ChunkDelayMS < 0 || wish.ChunkDelayMS > longestPauseMS {
		return nil, invalid(`stream is true, false or {"chunkDelayMs": 0 to %d}, not %s`, longestPauseMS, clip(string(raw)))
	}
	return &pacing{time.Duration(wish.ChunkDelayMS) * time.Millisecond}, nil
}

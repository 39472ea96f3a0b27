package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"

	"github.com/seed889630bf/lastword/messages"
)

const (
	// defaultRead and longestRead are the default and the maximum number of bytes that one call returns.
	defaultRead = 10_000
	longestRead = 100_000
)

// filePart is a part of a file. Offsets and sizes are in bytes.
type filePart struct {
	Name   string `json:"name"`
	Text   string `json:"text,omitempty"`
	Base64 string `json:"base64,omitempty"` // if it is not text
	Offset int64  `json:"offset"`
	// Next is the offset of the next part; 0 at the end of the file.
	Next  int64 `json:"next,omitempty"`
	Total int64 `json:"total"`
}

// filePartSchema is the JSON Schema of a filePart.
const filePartSchema = `{"type":"object","required":["name","offset","total"],"properties":{"name":{"type":"string"},` +
	`"text":{"type":"string"},"base64":{"type":"string"},"offset":{"type":"integer"},"next":{"type":"integer"},` +
	`"total":{"type":"integer"}}}`

// runRead returns a part of a file, which begins and ends between characters.
func (s *Server) runRead(ctx context.Context, state messages.State, a runArguments) (*Result, error) {
	file, _, err := s.OpenArtifact(ctx, state, a.Name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	asked := span{offset: a.Offset, limit: cmp.Or(a.Limit, defaultRead), asked: true}
	c, at, err := asked.read(messages.MediaType(a.Name), file)
	if err != nil {
		return nil, err
	}
	p := filePart{Name: a.Name, Text: c.Text, Base64: base64.StdEncoding.EncodeToString(c.Blob), Offset: at.Offset, Total: at.Total}
	text := c.Text
	if c.Blob != nil {
		text = fmt.Sprintf("%s is no text. Its bytes as base64:\n%s", a.Name, p.Base64)
	}
	if end := at.Offset + int64(at.Bytes); end < at.Total {
		p.Next = end
		text += fmt.Sprintf("\n[bytes %d to %d of %d; go on with offset %d]", at.Offset, end, at.Total, end)
	}
	return &Result{Text: text, Structured: p}, nil
}

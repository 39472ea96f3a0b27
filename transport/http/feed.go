package http

import (
	"context"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/internal/cursor"
)

// feed returns what a reader of events gets after the cursors. With digest, it gets no long text a second time.
func (s *Server) feed(ctx context.Context, cur cursor.Cursors, digest bool) *cursor.Feed {
	return &cursor.Feed{At: cur, Digest: digest, Said: func(run messages.RunID, stream string, before uint64) (string, error) {
		return s.said(ctx, run, stream, before)
	}}
}

// said returns what the deltas of a stream say before the event of that number.
func (s *Server) said(ctx context.Context, run messages.RunID, stream string, before uint64) (string, error) {
	var text []byte
	want := messages.FollowOptions{Filter: messages.Filter{Streams: []string{stream},
		Kinds: []messages.Kind{messages.KindTextDelta, messages.KindThoughtDelta}}}
	for e, err := range messages.Each(s.Runs.Follow(ctx, run, want)) {
		if err != nil || e.Seq >= before {
			return string(text), err
		}
		var ok bool
		if text, ok = cursor.Appended(text, stream, e.Body); !ok {
			return "", messages.Errorf(messages.CodeReset, "the log has not all of the text %q of run %s", stream, run)
		}
	}
	return string(text), nil
}

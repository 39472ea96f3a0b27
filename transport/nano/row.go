package nano

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"time"

	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	"github.com/seed889630bf/lastword/transport/internal/pieces"
	"github.com/seed889630bf/lastword/transport/internal/rpc"
)

// row is what another process needs to continue a stream.
type row struct {
	Used      int64          `json:"used"` // when it was stored, in seconds since 1970
	Run       messages.RunID `json:"run"`
	Answered  string         `json:"answered,omitempty"`
	Principal string         `json:"principal,omitempty"`
	pieces.Served
}

// mostCuts bounds a row. Beyond it, and while a WebSocket gets chunks, the row has a cut that no text reaches: at another
// process the stream then ends with the error reset.
const mostCuts = 1 << 15

const (
	rowPrefix = "nano."
	rowTime   = 5 * time.Second // maximum time to write a row
)

// idForm is the form of all ids.
var idForm = regexp.MustCompile("^[a-z2-7]{16}$")

// row reads the row of a stream. There may be none.
func (s *server) row(ctx context.Context, id string) (saved row, revision uint64, err error) {
	text, revision, err := s.Rows.Get(ctx, rowPrefix+id)
	if err == nil && len(text) > 0 {
		err = json.Unmarshal(text, &saved)
	}
	return saved, revision, err
}

// keep stores which chunks callers may have, before they get them. Errors: conflict if another process continues the stream.
func (s *stream) keep(ctx context.Context) error {
	if s.server.Rows.Get == nil {
		return nil
	}
	s.keeping.Lock()
	defer s.keeping.Unlock()
	s.server.mu.Lock()
	next := row{time.Now().Unix(), s.run, s.answered, s.principal, s.pieces.Served()}
	if len(next.Cuts) > mostCuts || s.pushed && !s.pieces.Ended() {
		next.Cuts = []int{maxBytes + 1}
	}
	gone := s.gone
	s.server.mu.Unlock()
	if gone || s.saved != nil && slices.Equal(s.saved.Cuts, next.Cuts) && next.Used-s.saved.Used < int64(idle.Seconds()) {
		return nil
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), rowTime)
	defer stop()
	found, revision, err := s.server.row(ctx, s.id)
	if err == nil && s.saved != nil && !slices.Equal(s.saved.Cuts, found.Cuts) {
		return messages.Errorf(messages.CodeConflict, "another process continues the stream %s", s.id)
	}
	if err == nil {
		text, _ := json.Marshal(next) // it has strings and numbers
		err = s.server.Rows.Set(ctx, rowPrefix+s.id, text, revision)
	}
	if err == nil {
		s.saved = &next
	}
	return err
}

// restore continues a stream of another process. It returns nil if there is none of the caller.
func (s *server) restore(c *rpc.Caller, id string) (*stream, error) {
	if s.Rows.Get == nil || !idForm.MatchString(id) {
		return nil, nil
	}
	saved, _, err := s.row(c.Context, id)
	if err != nil || saved.Run == "" || saved.Principal != auth.From(c.Context).Name ||
		time.Since(time.Unix(saved.Used, 0)) > idle+remembered {
		return nil, err
	}
	made := &stream{id: id, streams: true, saved: &saved, run: saved.Run, pieces: pieces.NewNumbered(maxBytes, saved.Served)}
	one, err := s.add(c, made)
	if one == made {
		made.begin(saved.Run, saved.Answered)
	}
	return one, err
}

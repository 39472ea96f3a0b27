package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
)

// sessionOf returns the session that the input names. A session is bound to its folder and its principal: another one is
// refused. Errors: invalid_input.
func (config Config) sessionOf(in Input, principal string) (string, error) {
	if in.Session != last {
		owner, known, err := config.recall("session", in.Agent, in.Session, "")
		if known && owner != in.Dir+"\x00"+principal {
			return "", messages.InvalidInput("the session %s of %s belongs to another folder or caller; leave it out, or name its folder as dir", in.Session, in.Agent)
		}
		return in.Session, err
	}
	id, known, err := config.recall("last", in.Agent, in.Dir, principal)
	if err == nil && !known {
		err = messages.InvalidInput("%s has no session in %s yet; leave the session out", in.Agent, in.Dir)
	}
	return id, err
}

// remember keeps the session of a run that has begun one.
func (config Config) remember(in Input, id, principal string) error {
	if config.Sessions == "" || id == "" {
		return nil
	}
	return errors.Join(os.MkdirAll(config.Sessions, 0o700),
		confined.WriteDurable(config.Sessions, fileOf("session", in.Agent, id, ""), 0o600, in.Dir+"\x00"+principal),
		confined.WriteDurable(config.Sessions, fileOf("last", in.Agent, in.Dir, principal), 0o600, id))
}

func (config Config) recall(kind, agent, of, principal string) (text string, known bool, err error) {
	if config.Sessions == "" || of == "" {
		return "", false, nil
	}
	data, err := regular.Read(filepath.Join(config.Sessions, fileOf(kind, agent, of, principal)), regular.Small)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	return string(data), err == nil, err
}

func fileOf(kind, agent, of, principal string) string {
	return kind + "-" + messages.Digest(kind + "\x00" + agent + "\x00" + of + "\x00" + principal)[:32]
}

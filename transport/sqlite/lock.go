package sqlite

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/seed889630bf/lastword/internal/atomicfile"
	"github.com/seed889630bf/lastword/internal/regular"
)

// Owner describes the process that has opened a directory for writing.
type Owner struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
	// URL is the address of its server, or "" if it has not announced one.
	URL string `json:"url,omitempty"`
}

// LockedError says that [Open] failed because another process owns the directory.
type LockedError struct {
	Dir   string
	Owner Owner
}

// Error names the owner and says what to do.
func (e *LockedError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is in use by ", e.Dir)
	if e.Owner.PID == 0 {
		b.WriteString("another process")
	} else {
		fmt.Fprintf(&b, "process %d on %s since %s", e.Owner.PID, e.Owner.Host, e.Owner.Since.Format(time.RFC3339))
	}
	if e.Owner.URL != "" {
		fmt.Fprintf(&b, "; ask it at %s, or", e.Owner.URL)
	} else {
		b.WriteString(";")
	}
	b.WriteString(" stop it, or choose another directory")
	return b.String()
}

// lockFile is the name of the locked file. It also names the owner.
const lockFile = "lock"

// FindOwner returns the process that has opened the directory for writing. ok is false if there is none.
func FindOwner(dir string) (Owner, bool) {
	f, _, err := regular.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return Owner{}, false
	}
	defer f.Close()
	if atomicfile.TryLockShared(f) == nil {
		return Owner{}, false
	}
	return readOwner(f), true
}

func readOwner(f *os.File) (o Owner) {
	data, err := io.ReadAll(io.NewSectionReader(f, 0, 64<<10))
	if err != nil || json.Unmarshal(data, &o) != nil {
		return Owner{} // the owner is writing it right now
	}
	return o
}

// lock is the locked file of a directory. Its content may be outdated: only the lock says whether there is an owner. mu
// guards owner.
type lock struct {
	mu    sync.Mutex
	file  *os.File
	owner Owner
}

// lockTries is the number of attempts to take the lock, lockPause the time between them. FindOwner holds the lock for a
// moment.
const (
	lockTries = 5
	lockPause = 20 * time.Millisecond
)

// lockDir takes the lock of the folder. The operating system releases it when the process ends, in whatever way.
func lockDir(dir string) (*lock, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for try := 1; atomicfile.TryLock(f) != nil; try++ {
		if try == lockTries {
			defer f.Close()
			return nil, &LockedError{Dir: dir, Owner: readOwner(f)}
		}
		time.Sleep(lockPause)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	l := &lock{file: f, owner: Owner{PID: os.Getpid(), Host: host, Since: time.Now().UTC().Truncate(time.Second)}}
	if err := l.announce(""); err != nil {
		f.Close()
		return nil, err
	}
	return l, nil
}

// announce writes the owner to the file.
func (l *lock) announce(url string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.owner.URL = url
	data, err := json.Marshal(l.owner)
	if err != nil {
		return err
	}
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err = l.file.WriteAt(append(data, '\n'), 0)
	return err
}

package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/messages/words"
	"github.com/seed889630bf/lastword/transport/llm/probe"
)

// mostToCheck is the largest size, in bytes, of a database that doctor checks. That takes one or two seconds.
const mostToCheck = 1e9

// State checks the folder where serve keeps runs: that it can be written, and that its database is sound.
func State(ctx context.Context, folder string) probe.Result {
	const id, elsewhere = "state", "serve cannot keep runs there; give it --state FOLDER, or --ephemeral"
	if folder == "" {
		return Finding(id, probe.Warn, elsewhere, "the system has no place for it")
	}
	if err := tryWriting(existing(folder)); err != nil {
		return Finding(id, probe.Warn, elsewhere, "%s: %v", folder, exit.Reason(err))
	}
	size, err := sizeOf(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return Fine(id, "%s will be made; serve keeps runs there", folder)
	}
	if err != nil {
		return Finding(id, probe.Warn, elsewhere, "%s: %v", folder, exit.Reason(err))
	}
	seen := fmt.Sprintf("%s: %s, %s", folder, words.Size(size), ownerOf(folder))
	if size > mostToCheck {
		return Fine(id, "%s; not checked: larger than %s, lastword verify --all reads it", seen, words.Size(mostToCheck))
	}
	report, err := store.CheckDatabase(ctx, folder)
	switch {
	case messages.CodeOf(err) == messages.CodeNotFound:
		return Fine(id, "%s; no runs yet", seen)
	case err != nil:
		return Finding(id, probe.Fail, "correct it, or give serve another folder with --state", "%s; %v", seen, err)
	case len(report.Faults) > 0:
		return Finding(id, probe.Fail, "lastword verify --all tells which runs are damaged; restore a backup",
			"%s; its database is damaged: %s", seen, words.Clip(report.Faults[0].Says, 200))
	}
	return Fine(id, "%s; its database is sound", seen)
}

// ownerOf says which process has the folder open.
func ownerOf(folder string) string {
	owner, open := store.FindOwner(folder)
	if !open {
		return "nobody has it open"
	}
	text := fmt.Sprintf("process %d on %s has it open since %s", owner.PID, owner.Host, owner.Since.Format(time.RFC3339))
	if owner.URL != "" {
		text += " and answers at " + owner.URL
	}
	return text
}

// sizeOf returns the size of the files directly in a folder.
func sizeOf(folder string) (bytes int64, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
	}
	return bytes, err
}

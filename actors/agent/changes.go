package agent

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/command"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

const (
	// patchName is the artifact with what changed in the folder.
	patchName = "changes.patch"
	// mostPatch bounds it, in bytes.
	mostPatch = 16 << 20
	// lookTime bounds how long one look at the folder may take.
	lookTime = 30 * time.Second
)

// snapshots compare a folder before and after a run: what agents say of their changes is unreliable. They use
// their own repository, so that neither the folder's repository nor its settings matter. Files that the folder's
// .gitignore names are left out.
type snapshots struct {
	dir, repository string
	before          string
	err             error
	done            chan struct{}
}

// look begins to look at the folder, if the changes are wanted.
func look(dir string, wanted bool) *snapshots {
	s := &snapshots{dir: dir, done: make(chan struct{})}
	if !wanted {
		close(s.done)
		return s
	}
	time.AfterFunc(0, func() {
		defer close(s.done)
		if s.repository, s.err = os.MkdirTemp("", "lastword-changes-"); s.err == nil {
			_, s.err = s.git("init", "--quiet", "--bare", s.repository)
		}
		if s.err == nil {
			s.before, s.err = s.tree()
		}
	})
	return s
}

// git runs git on the folder, without any settings.
func (s *snapshots) git(args ...string) (string, error) {
	ctx, end := context.WithTimeout(context.Background(), lookTime)
	defer end()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.repository, "GIT_DIR=" + s.repository, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + filepath.Join(s.dir, ".git", "objects"), "LC_ALL=C"}
	var out, says bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &says, time.Second
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git: %w %s", err, words.OneLine(says.String()))
	}
	return out.String(), nil
}

// tree returns the name of the folder's content.
func (s *snapshots) tree() (string, error) {
	if _, err := s.git("--work-tree="+s.dir, "-c", "core.autocrlf=false", "-c", "advice.addEmbeddedRepo=false", "add", "--all", "--ignore-errors"); err != nil {
		return "", err
	}
	name, err := s.git("write-tree")
	return strings.TrimSpace(name), err
}

// patch returns what has changed since the first look.
func (s *snapshots) patch() (text string, err error) {
	<-s.done
	defer os.RemoveAll(s.repository)
	after := ""
	if err = s.err; err == nil {
		after, err = s.tree()
	}
	if err == nil && after != s.before {
		text, err = s.git("diff", "--binary", "--no-renames", s.before, after)
	}
	return text, err
}

// keepPatch keeps the changes of the folder as an artifact of the run.
func keepPatch(ctx context.Context, t *actors.TaskContext, s *snapshots, config command.Config) error {
	if config.Folder == nil {
		return nil
	}
	if ctx.Err() != nil { // a run that is canceled keeps nothing
		time.AfterFunc(0, func() { <-s.done; os.RemoveAll(s.repository) })
		return nil
	}
	text, err := s.patch()
	if err != nil {
		return t.Notice(messages.NoticeStageSkipped, fmt.Sprintf("there is no %s: %v", patchName, err))
	}
	if text == "" {
		return nil
	}
	a := messages.Artifact{Name: patchName, Path: path.Join(Name, string(t.RunID()), patchName), Partial: len(text) > mostPatch}
	return config.Keep(ctx, t, a, strings.NewReader(text), int64(min(len(text), mostPatch)))
}

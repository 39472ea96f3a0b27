package host

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/cmd/internal/store"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/lmstxt"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/messages"
	"github.com/seed889630bf/lastword/transport/door/auth"
	api "github.com/seed889630bf/lastword/transport/http/client"
)

// outputs holds the files of runs. All are below one folder, where each principal has its own folder.
type outputs struct {
	quota
	store *store.Store // saves files for other nodes; may be nil
}

// artifact opens an artifact of a run: the file below the output folder or, if this node does not have it, the copy
// that the node of the run has saved.
func (o *outputs) artifact(ctx context.Context, run messages.State, a messages.Artifact) (
	io.ReadSeekCloser, error) {
	f, err := o.local(ctx, run, a)
	if err == nil {
		return f, nil
	}
	if o.store == nil || o.store.Load == nil || messages.CodeOf(err) != messages.CodeNotFound {
		return nil, err
	}
	return o.saved(ctx, run, a)
}

// local opens the file of an artifact. The file must still have the content that the run wrote, because a later run of
// the same repository writes to the same path.
func (o *outputs) local(ctx context.Context, run messages.State, a messages.Artifact) (*os.File, error) {
	home, below := locate(run, a)
	root, err := o.home(home)
	if err != nil {
		return nil, errGone(run, a)
	}
	defer root.Close()
	f, err := confined.Open(root, below)
	if err != nil {
		return nil, errGone(run, a)
	}
	if err := CheckFile(ctx, f, a); err != nil {
		f.Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, errGone(run, a)
	}
	return f, nil
}

// OpenArtifact opens a file of a run where the run is read from: the server, or the folder of one that has stopped.
func OpenArtifact(ctx context.Context, c Source, run messages.State, a messages.Artifact) (io.ReadCloser, error) {
	in, stopped := c.(*store.Stopped)
	if !stopped {
		return c.(*api.Client).Artifact(ctx, run.RunID, a.Name)
	}
	folders, err := in.Outputs(ctx)
	if err != nil {
		return nil, err
	}
	return openKept(ctx, folders, run, a)
}

// openKept opens the file below one of the folders. A job of a command line writes below its folder itself.
func openKept(ctx context.Context, folders []string, run messages.State, a messages.Artifact) (*os.File, error) {
	for _, folder := range folders {
		o := &outputs{quota: quota{out: folder}}
		for _, from := range []messages.State{run, {RunID: run.RunID}} {
			if f, err := o.local(ctx, from, a); err == nil || ctx.Err() != nil {
				return f, err
			}
		}
	}
	return nil, errGone(run, a)
}

// saved downloads the copy of the file that the run's node has saved.
func (o *outputs) saved(ctx context.Context, run messages.State, a messages.Artifact) (io.ReadSeekCloser, error) {
	f, err := os.CreateTemp("", "lastword-artifact-")
	if err != nil {
		return nil, err
	}
	copied := temporary{f}
	if err = o.store.Load(ctx, savedName(run, a), f); err == nil {
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			err = CheckFile(ctx, f, a)
		}
	}
	if err == nil {
		return copied, nil
	}
	copied.Close()
	if errors.Is(err, errChanged) || messages.CodeOf(err) == messages.CodeNotFound {
		return nil, errGone(run, a)
	}
	return nil, err
}

// temporary is a file that Close removes.
type temporary struct{ *os.File }

func (t temporary) Close() error { return errors.Join(t.File.Close(), os.Remove(t.Name())) }

func savedName(run messages.State, a messages.Artifact) string {
	return string(run.RunID) + "/" + a.Name
}

// shared changes the job so that its last task saves the run's files for the other nodes before the run is completed.
func (o *outputs) shared(job actors.Definition) actors.Definition {
	make := job.New
	job.New = func(input json.RawMessage) (actors.Job, error) {
		made, err := make(input)
		if err == nil && o.store != nil && o.store.Save != nil {
			o.share(&made.Tasks[len(made.Tasks)-1])
		}
		return made, err
	}
	return job
}

// share makes the task save the run's files at its end.
func (o *outputs) share(last *actors.Task) {
	work := last.Run
	last.Run = func(ctx context.Context, t *actors.TaskContext) error {
		if err := work(ctx, t); err != nil {
			return err
		}
		if err := t.Commit(ctx); err != nil {
			return err
		}
		run, err := journal.NewArchive(o.store.Journal).State(ctx, t.RunID())
		if err != nil {
			return err
		}
		return o.save(ctx, run)
	}
}

// save saves the run's files for the other nodes. It skips a file that a later run has already replaced.
func (o *outputs) save(ctx context.Context, run messages.State) error {
	for _, a := range run.Artifacts {
		f, err := o.local(ctx, run, a)
		if messages.CodeOf(err) == messages.CodeNotFound {
			continue
		}
		if err != nil {
			return err
		}
		err = o.store.Save(ctx, savedName(run, a), f)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// locate returns the folder of the run's principal below the root, and the artifact's path in that folder.
func locate(run messages.State, artifact messages.Artifact) (home, below string) {
	var in struct {
		Out string `json:"out"`
	}
	if run.Queued != nil {
		_ = json.Unmarshal(run.Queued.Input, &in) // inputs of other jobs have none
		home = homeOf(run.Queued.Principal)
	}
	return home, path.Join(in.Out, artifact.Path)
}

// errChanged means that a file does not have the content that a run wrote.
var errChanged = errors.New("the file is another")

// CheckFile compares a file with the artifact, and rewinds it to its beginning. If the file is replaced meanwhile, the
// open file keeps its content.
func CheckFile(ctx context.Context, f *os.File, artifact messages.Artifact) error {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() != artifact.Bytes {
		return errors.Join(err, errChanged)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, readerOf(ctx, f)); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != artifact.SHA256 {
		return errChanged
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}

// errGone says why the file of a run cannot be read any more.
func errGone(run messages.State, artifact messages.Artifact) error {
	return messages.Errorf(messages.CodeNotFound,
		"the file %s of run %s was deleted, or a later run has replaced it; start the run again to have it",
		artifact.Name, run.RunID)
}

// readerOf returns a reader that fails after ctx is done.
func readerOf(ctx context.Context, r io.Reader) io.Reader {
	return reader(func(p []byte) (int, error) {
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		return r.Read(p)
	})
}

type reader func(p []byte) (int, error)

func (r reader) Read(p []byte) (int, error) { return r(p) }

// callersFiles opens the caller's folder, which exists if a run of the caller has written files.
func (o *outputs) callersFiles(ctx context.Context) (lmstxt.Files, error) {
	root, err := o.home(homeOf(auth.From(ctx).Name))
	if err != nil {
		return nil, err
	}
	return confined.FS(root), nil
}

// home opens the folder of a principal.
func (o *outputs) home(name string) (*os.Root, error) {
	root, err := regular.Root(o.out)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return confined.Folder(root, cmp.Or(name, "."))
}

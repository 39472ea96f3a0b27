package artifact

import (
	"context"
	"io"
	"slices"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/messages"
)

// Input is what the job read reads.
type Input struct {
	Run  messages.RunID `json:"run"`
	Name string         `json:"name"`
}

// Text is the result of the job read.
type Text struct {
	Text string `json:"text"`
}

// mostRead bounds what is read, because it is the result of a run.
const mostRead = messages.MaxEventBytes / 4

// Read defines the job read. state finds a run that the principal may read, and open opens an artifact of it.
func Read(state func(ctx context.Context, run messages.RunID, principal string) (messages.State, error),
	open func(context.Context, messages.State, messages.Artifact) (io.ReadSeekCloser, error)) actors.Definition {
	return actors.Func("read", func(ctx context.Context, t *actors.TaskContext, in Input) (Text, error) {
		run, err := state(ctx, in.Run, t.Principal())
		if err != nil {
			return Text{}, err
		}
		k := slices.IndexFunc(run.Artifacts, func(a messages.Artifact) bool { return a.Name == in.Name })
		if k < 0 {
			return Text{}, messages.Errorf(messages.CodeNotFound, "the run %s wrote no %s", in.Run, in.Name)
		}
		f, err := open(ctx, run, run.Artifacts[k])
		if err != nil {
			return Text{}, err
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, mostRead+1))
		if err != nil {
			return Text{}, err
		}
		if len(data) > mostRead {
			return Text{}, messages.Errorf(messages.Code(messages.CauseLimitExceeded),
				"the artifact %s has more than %d bytes, and a step reads no more", in.Name, mostRead)
		}
		return Text{string(data)}, nil
	})
}

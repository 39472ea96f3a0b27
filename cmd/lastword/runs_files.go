package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/confined"
	"github.com/seed889630bf/lastword/internal/stable"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// runsFilesCommand returns the command that lists the files of a run, prints one, or writes them below a folder.
func runsFilesCommand(remote *host.Remote) *cobra.Command {
	out, force := "", false
	cmd := &cobra.Command{Use: "files <run> [name]", RunE: remote.Read(ofRun(func(cmd *cobra.Command, c host.Source, id messages.RunID, named []string) error {
		state, err := c.State(cmd.Context(), id)
		if err != nil {
			return err
		}
		if state.Artifacts, err = filesNamed(state, named); err != nil {
			return err
		}
		switch {
		case out != "" && len(state.Artifacts) > 0:
			return fetchFiles(cmd, c, state, out, force)
		case len(named) > 0:
			return fetchFile(cmd.Context(), c, state, state.Artifacts[0], terminal.Shown(cmd.OutOrStdout()))
		}
		return printFiles(cmd, state.Artifacts)
	}))}
	cmd.Args = exit.TakesSome(1, 2, "needs the id of one run, or last, and takes the name of one file", "lastword runs ls lists them")
	cmd.Flags().StringVarP(&out, "out", "o", "", "`folder` to write the files below; made if missing")
	cmd.Flags().BoolVar(&force, "force", false, "replace files that are there")
	return cmd
}

// filesNamed returns the files of the run: all, or the one that is named.
func filesNamed(s messages.State, named []string) ([]messages.Artifact, error) {
	if len(named) == 0 {
		return s.Artifacts, nil
	}
	var names []string
	for _, a := range s.Artifacts {
		if a.Name == named[0] {
			return []messages.Artifact{a}, nil
		}
		names = append(names, a.Name)
	}
	return nil, messages.Errorf(messages.CodeNotFound, "the run %s has no file %q%s; lastword runs files %[1]s lists its files",
		s.RunID, named[0], words.Meant(named[0], names))
}

func printFiles(cmd *cobra.Command, files []messages.Artifact) error {
	rows := [][]string{{"FILE", "SIZE", "TYPE", "SHA256"}}
	for _, a := range files {
		kind := messages.MediaType(a.Name)
		if a.Partial {
			kind += ", its first part"
		}
		rows = append(rows, []string{a.Name, words.Size(a.Bytes), kind, a.SHA256[:min(len(a.SHA256), 12)]})
	}
	return terminal.List(cmd, rows, "the run has no files")
}

// fetchFiles writes the files below the folder under their names. A name leads nowhere else, and to no hidden file. It
// replaces no file without force, and writes none if one is refused. Stderr names what was written.
func fetchFiles(cmd *cobra.Command, c host.Source, s messages.State, folder string, force bool) error {
	root, err := confined.MakeRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, a := range s.Artifacts {
		_, there := root.Lstat(a.Name)
		switch err := confined.Name(a.Name); {
		case err != nil:
			return messages.InvalidInput("a file of the run is not written: %v\nlastword runs files %s NAME prints it", err, s.RunID)
		case there == nil && !force:
			return messages.Errorf(messages.CodeConflict, "%s has the file %s already; --force replaces it", folder, a.Name)
		}
	}
	for _, a := range s.Artifacts {
		if err := downloadTo(cmd.Context(), c, s, root, a, a.Name); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "  %9s  %s\n", words.Size(a.Bytes), words.Printable(filepath.Join(folder, a.Name)))
	}
	return nil
}

// download writes the run's files below the folder, as generate does on this machine.
func download(ctx context.Context, c host.Source, s messages.State, folder string) error {
	s.Artifacts = stable.DeleteFunc(slices.Clone(s.Artifacts), func(a messages.Artifact) bool { return a.Partial })
	if len(s.Artifacts) == 0 {
		return nil
	}
	root, err := confined.MakeRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, a := range s.Artifacts {
		if err := downloadTo(ctx, c, s, root, a, cmp.Or(a.Path, a.Name)); err != nil {
			return err
		}
	}
	return nil
}

// downloadTo writes one of the run's files to its place, atomically.
func downloadTo(ctx context.Context, c host.Source, s messages.State, root *os.Root, a messages.Artifact, place string) error {
	err := confined.Write(root, place, 0o644, func(file io.Writer) error { return fetchFile(ctx, c, s, a, file) })
	if err != nil {
		return fmt.Errorf("cannot download %s: %w", a.Name, err)
	}
	return nil
}

// fetchFile copies one file to w, and checks that it is the one in the run's log.
func fetchFile(ctx context.Context, c host.Source, s messages.State, a messages.Artifact, w io.Writer) error {
	from, err := host.OpenArtifact(ctx, c, s, a)
	if err != nil {
		return err
	}
	defer from.Close()
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(w, sum), io.LimitReader(from, a.Bytes+1))
	if err == nil && hex.EncodeToString(sum.Sum(nil)) != a.SHA256 {
		err = messages.Errorf(messages.CauseTransportClosed, "the server sent another file than the run wrote")
	}
	return err
}

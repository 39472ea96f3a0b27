package main

import (
	"debug/buildinfo"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// root is the folder of the repository.
const root = "../../.."

// readCommit finds which commit is checked out, and when it was made. SOURCE_DATE_EPOCH says another time, in seconds.
func (r *release) readCommit() error {
	line, err := output(root, nil, "git", "log", "-1", "--format=%H %ct")
	if err != nil {
		return err
	}
	var seconds string
	r.commit, seconds, _ = strings.Cut(line, " ")
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		seconds = epoch
	}
	since, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	r.at = time.Unix(since, 0).UTC()
	return nil
}

// build builds the programs in a clone where the commit has the version as its tag: Go writes both into the programs.
func build(version, stage string) (map[target]string, error) {
	if changed, err := output(root, nil, "git", "status", "--porcelain"); err != nil || changed != "" {
		return nil, errors.Join(err, fmt.Errorf("a release is of a commit: commit these first\n%s", changed))
	}
	if err := checkTag(version); err != nil {
		return nil, err
	}
	at, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	clone := filepath.Join(stage, "clone")
	if _, err := output("", nil, "git", "clone", "--quiet", "--shared", "--no-tags", at, clone); err != nil {
		return nil, err
	}
	if _, err := output(clone, nil, "git", "tag", version); err != nil {
		return nil, err
	}
	programs := map[target]string{}
	for _, t := range targets() {
		programs[t] = filepath.Join(stage, "bin", t.String(), t.program())
		env := []string{"GOOS=" + t.os, "GOARCH=" + t.arch, "GOAMD64=v1", "GOARM64=v8.0", "CGO_ENABLED=0", "GOFLAGS=", "GOEXPERIMENT=", "GOWORK=off"}
		if _, err := output(clone, env, "go", "build", "-trimpath", "-buildvcs=true", "-ldflags", "-s -w", "-o", programs[t], "./cmd/lastword"); err != nil {
			return nil, fmt.Errorf("%v: %w", t, err)
		}
		if info, err := buildinfo.ReadFile(programs[t]); err != nil || info.Main.Version != version {
			return nil, errors.Join(err, fmt.Errorf("%v: Go did not write the version %s into the program", t, version))
		}
	}
	return programs, nil
}

// checkTag refuses a version that is the tag of another commit.
func checkTag(version string) error {
	tags, err := output(root, nil, "git", "tag", "--list", version)
	if err != nil || tags == "" {
		return err
	}
	here, err := output(root, nil, "git", "tag", "--points-at", "HEAD", "--list", version)
	if err == nil && here == "" {
		err = fmt.Errorf("%s is the tag of another commit: check it out, or release another version", version)
	}
	return err
}

// documents returns the files that lie beside the program. The program, which runs here, writes the completions.
func documents(program, version, stage string) ([]file, error) {
	program, err := filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	share := filepath.Join(stage, "share")
	env := []string{"HOME=/nonexistent"}
	for _, folder := range []string{"man", "completions"} {
		if err := os.MkdirAll(filepath.Join(share, folder), 0o755); err != nil {
			return nil, err
		}
	}
	if err := manuals(filepath.Join(share, "man"), version); err != nil {
		return nil, err
	}
	for shell, name := range map[string]string{"bash": "lastword.bash", "zsh": "_lastword", "fish": "lastword.fish", "powershell": "lastword.ps1"} {
		script, err := output("", env, program, "completion", shell)
		if err == nil {
			err = os.WriteFile(filepath.Join(share, "completions", name), []byte(script+"\n"), 0o644)
		}
		if err != nil {
			return nil, err
		}
	}
	files, err := filesOf(share)
	for _, name := range []string{"LICENSE", "README.md"} {
		files = append(files, file{name: name, path: filepath.Join(root, name), mode: 0o644})
	}
	return files, err
}

// filesOf returns the files below the folder, sorted. It lets all read them, whatever the umask is.
func filesOf(folder string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		files = append(files, file{name: filepath.ToSlash(name), path: path, mode: 0o644})
		return errors.Join(err, os.Chmod(path, 0o644))
	})
	return files, err
}

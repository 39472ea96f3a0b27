package tokenfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/internal/atomicfile"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/transport/door/auth"
)

// change calls do with the file, which no other process changes meanwhile, and with the folder that has it.
func change(file string, flags int, do func(folder *os.Root, f *os.File) error) error {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	err := atomicfile.Change(file, flags, do)
	if _, stated := errors.AsType[*exit.Error](err); err != nil && !stated {
		err = &exit.Error{Code: exit.Configuration, Err: fmt.Errorf("cannot change the file of tokens: %w", err)}
	}
	return err
}

// Append appends the line. It makes a missing file.
func Append(file, line string) error {
	return change(file, os.O_RDWR|os.O_APPEND|os.O_CREATE, func(_ *os.Root, f *os.File) error {
		lines, err := Lines(file)
		if err != nil {
			return err
		}
		info, err := f.Stat()
		if err == nil {
			err = f.Chmod(modeOf(info)) // an empty file may have been readable by others
		}
		if err != nil {
			return err
		}
		if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
			line = "\n" + line
		}
		_, err = f.WriteString(line + "\n")
		return errors.Join(err, f.Sync())
	})
}

// modeOf is the mode that the file gets: its owner's, and if a server reads it by its group, the group's as well.
func modeOf(info fs.FileInfo) fs.FileMode { return 0o600 | info.Mode().Perm()&0o040 }

// Lines returns the lines of the file. Others than its owner and its group must not be able to read it.
func Lines(file string) ([]string, error) {
	text, err := regular.Read(file, 4*regular.Small)
	if err != nil {
		return nil, &exit.Error{Code: exit.Configuration, Err: fmt.Errorf("cannot read the file of tokens: %w", err)}
	}
	lines := slices.Collect(strings.Lines(string(text)))
	says := func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && !strings.HasPrefix(line, "#")
	}
	if !slices.ContainsFunc(lines, says) {
		return lines, nil
	}
	if _, err := auth.LoadTokens(file); err != nil { // which wants a token in the file
		return nil, exit.Misconfigured(err)
	}
	return lines, nil
}

// Fields returns the fields of a line with a token.
func Fields(line string) (name, scopes, digest string, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 3 || strings.HasPrefix(fields[0], "#") {
		return "", "", "", false
	}
	return fields[0], fields[1], fields[2], true
}

// Remove rewrites the file without the caller's lines, and returns how many there were. None is an error.
func Remove(file, name string) (removed int, err error) {
	err = change(file, os.O_RDONLY, func(folder *os.Root, f *os.File) error {
		lines, err := Lines(file)
		if err != nil {
			return err
		}
		var kept strings.Builder
		for _, line := range lines {
			if who, _, _, ok := Fields(line); ok && who == name {
				removed++
				continue
			}
			kept.WriteString(line)
		}
		if removed == 0 {
			return nil
		}
		return replaceFile(folder, f, kept.String())
	})
	if err == nil && removed == 0 {
		err = fmt.Errorf("%s has no token in %s", words.Printable(name), words.Printable(file))
	}
	return removed, err
}

// replaceFile replaces the file atomically. Anyone who could read the old one can read the new one.
func replaceFile(folder *os.Root, f *os.File, text string) error {
	old, err := f.Stat()
	if err != nil {
		return err
	}
	name := filepath.Base(f.Name())
	if err := atomicfile.WriteText(folder, name, modeOf(old), text); err != nil {
		return err
	}
	return errors.Join(keepOwner(folder, name, old), atomicfile.SyncFolder(folder, "."))
}

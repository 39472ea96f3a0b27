package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/seed889630bf/lastword/internal/atomicfile"
	"github.com/seed889630bf/lastword/internal/fatal"
)

// Writers of one name do not mix their texts, and leave nothing else.
func TestWritersOfOneName(t *testing.T) {
	dir, err := os.OpenRoot(t.TempDir())
	fatal.IfError(t, err)
	defer dir.Close()
	var all sync.WaitGroup
	for _, letter := range "abcdefgh" {
		all.Go(func() {
			if err := atomicfile.WriteText(dir, "x", 0o644, strings.Repeat(string(letter), 1<<16)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	failed := errors.New("half of it")
	err = atomicfile.Write(dir, "x", 0o644, func(w io.Writer) error {
		_, err := io.WriteString(w, "half")
		return errors.Join(failed, err)
	})
	if !errors.Is(err, failed) {
		t.Errorf("a writer that failed returned %v", err)
	}
	text, err := dir.ReadFile("x")
	if err != nil || len(text) != 1<<16 || strings.Trim(string(text), string(text[:1])) != "" {
		t.Errorf("the file has %d bytes that are not of one writer: %v", len(text), err)
	}
	if names, err := os.ReadDir(dir.Name()); err != nil || len(names) != 1 {
		t.Errorf("the folder has %v, %v", names, err)
	}
}

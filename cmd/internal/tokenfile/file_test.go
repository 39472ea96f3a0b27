package tokenfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/tokenfile"
	"github.com/seed889630bf/lastword/internal/fatal"
)

// A removed token is not in the file, and an added one is, whatever other processes do at the same time.
func TestParallelChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	line := func(i int) string { return fmt.Sprintf("u%d run:read %064x", i, i+1) }
	for i := range 8 {
		must(t, tokenfile.Append(file, line(i)))
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if n, err := tokenfile.Remove(file, fmt.Sprintf("u%d", i)); n != 1 || err != nil {
				t.Error(n, err)
			}
		})
		all.Go(func() {
			if err := tokenfile.Append(file, line(8+i)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	text, err := os.ReadFile(file)
	for i := range 16 {
		if there := strings.Contains(string(text), line(i)+"\n"); there != (i >= 8) {
			t.Errorf("u%d is there: %t, %v", i, there, err)
		}
	}
}

var must = fatal.IfError

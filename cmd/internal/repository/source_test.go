package repository

import (
	"archive/tar"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/address"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
	"github.com/seed889630bf/lastword/messages"
)

// What is said to raise a limit raises it.
func TestLimitsOfArchives(t *testing.T) {
	var packed bytes.Buffer
	w := tar.NewWriter(&packed)
	deep := strings.Repeat("d/", 150) + "a.md"
	if err := w.WriteHeader(&tar.Header{Name: deep, Mode: 0o644, Format: tar.FormatPAX}); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteHeader(&tar.Header{Name: "b.md", Typeflag: tar.TypeFifo}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "deep.tar")
	if err := os.WriteFile(path, packed.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for depth, code := range map[int]messages.Code{0: messages.CauseLimitExceeded, 200: ""} {
		s := &Source{Limits: scan.Limits{Depth: depth}}
		m, err := s.Open(t.Context(), address.Address{Kind: address.Archive, Path: path})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Read(t.Context(), nil)
		if err != nil && messages.CodeOf(err) != code || err == nil && code != "" {
			t.Errorf("--max-depth %d: %v", depth, err)
		}
		if err == nil && m.Warning != "left out of the archive: 1 that are devices, pipes or hard links" {
			t.Errorf("warned %q", m.Warning)
		}
	}
	for files, want := range map[int]int{0: 200_000, 1000: 200_000, 50_000: 500_000} {
		s := &Source{Limits: scan.Limits{Files: files}}
		if got := s.entries(200_000); got != want {
			t.Errorf("--max-files %d lets %d be listed, want %d", files, got, want)
		}
	}
}

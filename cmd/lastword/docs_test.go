package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
)

func TestReadmeNamesEveryFlagAndCode(t *testing.T) {
	data, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	root := rootCommand(new(host.Program))
	for _, k := range settings.KeysOf(root) {
		want = append(want, "\n| `--"+k.Flag.Name)
	}
	for _, cmd := range root.Commands() {
		want = append(want, "\n| `lastword "+cmd.Name())
	}
	for _, code := range []int{exit.Completed, exit.Failed, exit.Usage, exit.Configuration, exit.Provider, exit.Limit,
		exit.Stale, exit.Timeout, exit.Interrupted, exit.Terminated} {
		want = append(want, fmt.Sprintf("\n| %d |", code))
	}
	if len(want) < 20 {
		t.Errorf("only %d rows: %q", len(want), want)
	}
	for _, row := range want {
		if !strings.Contains(string(data), row) {
			t.Errorf("no row of a table in the README begins with %q", row[1:])
		}
	}
}

package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// chores are by name what make may ask for. Each gets its arguments.
var chores = map[string]func(args []string) error{
	"cast":     cast,
	"cover":    cover,
	"debian":   debian,
	"fuzz":     fuzz,
	"install":  install,
	"licences": licences,
	"node":     node,
	"raise":    raise,
	"site":     site,
	"unpack":   unpack,
	"update":   update,
	"vuln":     vuln,
}

func main() {
	err := fmt.Errorf("usage: chore NAME [ARGUMENT ...]; names: %s", strings.Join(slices.Sorted(maps.Keys(chores)), " "))
	if len(os.Args) > 1 && chores[os.Args[1]] != nil {
		err = chores[os.Args[1]](os.Args[2:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "chore:", err)
		os.Exit(1)
	}
}

// run runs a program in the folder; its output is ours.
func run(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

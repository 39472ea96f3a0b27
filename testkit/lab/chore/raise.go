package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
)

// gate is the part of a package.json that pins the packages of a gate.
type gate struct {
	Dependencies, DevDependencies, OptionalDependencies map[string]string
}

// raise raises the pinned packages of all gates below the folder to their newest versions, and prints what it changed. An
// alias such as ai6 keeps its major version, and so does node. What does not install with the others is left and said.
func raise(args []string) error {
	if len(args) != 1 {
		return errors.New("raise needs the lab's folder")
	}
	files, err := filepath.Glob(filepath.Join(args[0], "testdata", "*", "npm", "package.json"))
	for _, file := range files {
		text, failed := os.ReadFile(file)
		var g gate
		if failed = errors.Join(failed, json.Unmarshal(text, &g)); failed == nil {
			for flag, set := range map[string]map[string]string{"--save-prod": g.Dependencies, "--save-dev": g.DevDependencies, "--save-optional": g.OptionalDependencies} {
				for _, name := range slices.Sorted(maps.Keys(set)) {
					failed = errors.Join(failed, raisePackage(filepath.Dir(file), flag, name, set[name]))
				}
			}
		}
		err = errors.Join(err, failed)
	}
	modules, _ := filepath.Glob(filepath.Join(args[0], "testdata", "*", "go.mod"))
	below, _ := filepath.Glob(filepath.Join(args[0], "testdata", "*", "*", "go.mod"))
	for _, module := range append(modules, below...) {
		err = errors.Join(err, raiseModule(filepath.Dir(module)))
	}
	return err
}

// keepsMajor matches packages that keep their major version.
var keepsMajor = regexp.MustCompile(`^node-|[a-z]\d$`)

func raisePackage(dir, flag, name, pinned string) error {
	alias, is := strings.CutPrefix(pinned, "npm:")
	source, version := name, pinned
	if i := strings.LastIndex(alias, "@"); is {
		source, version = alias[:i], alias[i+1:]
	}
	wanted, field := source, "version"
	if keepsMajor.MatchString(name) {
		major, _, _ := strings.Cut(version, ".")
		wanted += "@" + major
	} else if strings.Contains(version, "-") { // a prerelease is followed by the next
		field = "versions"
	}
	out, err := exec.Command("npm", "view", wanted, field, "--json").Output()
	if err != nil {
		return fmt.Errorf("npm view %s: %w", wanted, err)
	}
	var all []string
	if json.Unmarshal(out, &all) != nil {
		all = make([]string, 1)
		err = json.Unmarshal(out, &all[0])
	}
	if err != nil || len(all) == 0 {
		return fmt.Errorf("npm view %s says %q", wanted, out)
	}
	newest := slices.MaxFunc(all, func(a, b string) int { return semver.Compare("v"+a, "v"+b) })
	if semver.Compare("v"+newest, "v"+version) <= 0 {
		return nil
	}
	spec := source + "@" + newest
	if is {
		spec = name + "@npm:" + spec
	}
	type kept struct {
		name string
		text []byte
	}
	var before []kept
	for _, file := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return err
		}
		before = append(before, kept{filepath.Join(dir, file), text})
	}
	npm := func(args ...string) ([]byte, error) {
		cmd := exec.Command("npm", append(args, "--package-lock-only", "--ignore-scripts", "--strict-peer-deps")...)
		cmd.Dir = dir
		return cmd.CombinedOutput()
	}
	what := fmt.Sprintf("%s: %s %s", filepath.Base(filepath.Dir(dir)), name, version)
	said, failed := npm("install", "--save-exact", flag, spec)
	if failed == nil { // with --save-exact it looks at nobody else's needs
		said, failed = npm("install")
	}
	if failed == nil {
		fmt.Println(what, "->", newest)
		return nil
	}
	fmt.Printf("%s stays, %s does not install: %s\n", what, newest, firstError(said))
	for _, file := range before {
		err = errors.Join(err, os.WriteFile(file.name, file.text, 0o644))
	}
	return err
}

// firstError returns the line of npm's output that says why.
func firstError(said []byte) string {
	for line := range strings.Lines(string(said)) {
		if why, is := strings.CutPrefix(strings.TrimSpace(line), "npm error "); is && !strings.HasPrefix(why, "code") {
			return why
		}
	}
	return strings.TrimSpace(string(said))
}

// raiseModule raises what a module of a gate requires itself.
func raiseModule(dir string) error {
	list := func(args ...string) ([]string, error) {
		cmd := exec.Command("go", append([]string{"list", "-m"}, args...)...)
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		out, err := cmd.Output()
		return slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool { return line == "" }), err
	}
	direct, err := list("-f", "{{if not (or .Main .Indirect .Replace)}}{{.Path}}{{end}}", "all")
	if err != nil {
		return err
	}
	newer, err := list(append([]string{"-u", "-f", "{{if .Update}}{{.Path}} {{.Version}} {{.Update.Version}}{{end}}"}, direct...)...)
	if err != nil {
		return err
	}
	for _, line := range newer {
		f := strings.Fields(line)
		if err := run(dir, "go", "get", f[0]+"@"+f[2]); err != nil {
			return err
		}
		fmt.Printf("%s: %s %s -> %s\n", filepath.Base(dir), f[0], f[1], f[2])
	}
	return nil
}

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/cobra"

	"github.com/seed889630bf/lastword/messages/redact"
)

// projectFile is looked for in the current folder.
const projectFile = ".lastword.yaml"

// settingsBytes is the most that a file of settings may hold.
const settingsBytes = 1 << 20

// layer is a place that gives settings.
type layer struct {
	kind  string // environment, --config, project or user
	file  string // absolute; "" for the environment
	found bool
	// skipped: the file belongs to a repository that is being read, which must not steer what reads it.
	skipped bool
	values  map[string]any // by key
}

// spelled is the key as its layer spells it.
func (l layer) spelled(k key) string {
	if l.file == "" {
		return k.variable()
	}
	return l.file + ": " + k.name
}

// settings are what the flags are, where the command line does not say.
type settings struct {
	keys   []key
	layers []layer // strongest first
}

// configuration reads what there is to read. named is the file of --config, or ""; reading are the folders that
// the command is about to read.
func configuration(root *cobra.Command, named string, reading []string) (*settings, error) {
	s := &settings{keys: keysOf(root)}
	environment, err := s.environment()
	if err != nil {
		return nil, err
	}
	s.layers = append([]layer{environment}, places(named, reading)...)
	for i := range s.layers[1:] {
		if err := s.read(&s.layers[i+1]); err != nil {
			return nil, configurationError(err)
		}
	}
	return s, nil
}

func configurationError(err error) error {
	return &exitError{exitConfiguration, fmt.Errorf("%w\nlastword config show lists the settings there are", err)}
}

// places lists the files, strongest first.
func places(named string, reading []string) (files []layer) {
	if named == "" {
		named = os.Getenv("LASTWORD_CONFIG")
	}
	if named != "" {
		files = append(files, layer{kind: "--config", file: absolute(named)})
	}
	if project := absolute(projectFile); named == "" || project != files[0].file {
		files = append(files, layer{kind: "project", file: project, skipped: belongs(filepath.Dir(project), reading)})
	}
	if dir := userFolder(); dir != "" {
		files = append(files, layer{kind: "user", file: filepath.Join(dir, "lastword", "config.yaml")})
	}
	return files
}

func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

func userFolder() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".config")
	}
	return ""
}

// environment takes LASTWORD_X for the key x. Of variables that are no key it minds those that look like one.
func (s *settings) environment() (layer, error) {
	names, values := s.variables(), map[string]any{}
	for _, k := range s.keys {
		if value := os.Getenv(k.variable()); value != "" {
			values[k.name] = value
		}
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if err := s.strange(names, name); err != nil {
			return layer{}, configurationError(err)
		}
	}
	tree := koanf.New(".")
	err := tree.Load(confmap.Provider(values, "."), nil)
	return layer{kind: "environment", found: true, values: tree.All()}, err
}

func (s *settings) strange(names []string, name string) error {
	if !strings.HasPrefix(name, "LASTWORD_") || slices.Contains(names, name) || slices.Contains(secrets(), name) ||
		name == "LASTWORD_CONFIG" || name == tokenVariable {
		return nil
	}
	if near := nearest(names, name); near != "" {
		return unknown("environment", name, near)
	}
	command := func(k key) bool {
		prefix, _, deep := strings.Cut(k.name, ".")
		return deep && strings.HasPrefix(name, "LASTWORD_"+strings.ToUpper(prefix)+"_")
	}
	if slices.ContainsFunc(s.keys, command) {
		return unknown("environment", name, "")
	}
	return nil // somebody else's
}

func (s *settings) read(from *layer) error {
	info, err := os.Stat(from.file)
	switch {
	case missing(err) && from.kind != "--config":
		return nil
	case err == nil && from.skipped:
		from.found = true
		return nil
	case err == nil && (info.IsDir() || from.kind != "--config" && !info.Mode().IsRegular()):
		err = fmt.Errorf("%s is not a file", from.file)
	}
	if err != nil {
		return fmt.Errorf("cannot read the settings: %w", err)
	}
	from.found = true
	return s.load(from)
}

// missing: a home that is no folder holds no file either.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func (s *settings) load(from *layer) error {
	text, err := readSettings(from.file)
	if err != nil {
		return fmt.Errorf("cannot read the settings: %w", err)
	}
	tree := koanf.New(".")
	if err := tree.Load(rawbytes.Provider(text), yaml.Parser()); err != nil {
		return fmt.Errorf("%s: it is not YAML with a name for each setting: %w", from.file, err)
	}
	from.values = tree.All()
	for _, name := range slices.Sorted(maps.Keys(from.values)) {
		if err := s.judge(from, name); err != nil {
			return err
		}
	}
	return nil
}

func readSettings(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, settingsBytes+1))
	if err == nil && len(text) > settingsBytes {
		err = fmt.Errorf("%s holds more than %s", name, size(settingsBytes))
	}
	return text, err
}

// judge says what is wrong with a setting of a file.
func (s *settings) judge(from *layer, name string) error {
	value := from.values[name]
	k, ok := find(s.keys, name)
	switch {
	case ok && k.ownOnly() && from.kind == "project":
		return fmt.Errorf("%s: %s is for the command line, the environment or your own file: a project's file does not "+
			"say where prompts and keys go", from.file, k)
	case ok:
		if err := k.fits(value); err != nil {
			return fmt.Errorf("%s: %w", from.spelled(k), err)
		}
		return nil
	case s.isSection(name) && (value == nil || isMap(value)):
		delete(from.values, name)
		return nil
	case strings.Contains(strings.ToLower(name), "token"), strings.HasSuffix(strings.ToLower(name), "key"):
		return fmt.Errorf("%s: %s: secrets come from the environment only: %s", from.file, printable(name),
			strings.Join(secrets(), ", "))
	}
	return unknown(from.file, name, nearest(s.names(), name))
}

func unknown(where, name, near string) error {
	if near != "" {
		return fmt.Errorf("%s: no setting is called %s; did you mean %s?", where, printable(name), near)
	}
	return fmt.Errorf("%s: no setting is called %s", where, printable(name))
}

func (s *settings) names() []string {
	names := make([]string, len(s.keys))
	for i, k := range s.keys {
		names[i] = k.name
	}
	return names
}

// variables lists those that give settings.
func (s *settings) variables() (names []string) {
	for _, k := range s.keys {
		names = append(names, k.variables()...)
	}
	return names
}

func (s *settings) isSection(name string) bool {
	return slices.ContainsFunc(s.keys, func(k key) bool { return strings.HasPrefix(k.name, name+".") })
}

// effective is the strongest layer that gives the key, and what it gives.
func (s *settings) effective(k key) (layer, any, bool) {
	for _, from := range s.layers {
		if value, ok := from.values[k.name]; ok {
			return from, value, true
		}
	}
	return layer{}, nil, false
}

// apply sets every flag that the command line does not give.
func (s *settings) apply(known *redact.Secrets) error {
	for _, k := range s.keys {
		from, value, ok := s.effective(k)
		if ok && !k.flag.Changed {
			if err := k.set(value); err != nil {
				return configurationError(fmt.Errorf("%s: %w", from.spelled(k), err))
			}
		}
		if k.flag.Name == "proxy" {
			addPassword(known, k.flag.Value.String())
		}
	}
	return nil
}

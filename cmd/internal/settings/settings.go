package settings

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
	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/messages/redact"
)

// projectFile is the file of settings in the current folder.
const projectFile = ".lastword.yaml"

// settingsBytes is the maximum size of a file of settings.
const settingsBytes = 1 << 20

// layer is a source of settings: a file or the environment.
type layer struct {
	Kind  string // environment, --config, project or user
	File  string // absolute; "" for the environment
	Found bool
	// skipped says that the file belongs to the repository that the command reads: it must not steer the command.
	skipped bool
	values  map[string]any // by key
	text    []byte
}

// at is where the layer's file has the setting.
func (l layer) at(name string) string { return fmt.Sprintf("%s:%d", l.File, lineOf(l.text, name)) }

// spelled is the name of the key in its layer, for errors.
func (s *Settings) spelled(l layer, k Key) string {
	if l.File == "" {
		return k.Variable(s.env)
	}
	return l.at(k.Name) + ": " + k.Name
}

// Settings are the values of the flags that the command line does not set.
type Settings struct {
	Keys   []Key
	env    environment.Variables
	Layers []layer // strongest first
}

// Load reads the environment and the files. named is the file of --config, or ""; reading are the folders that the
// command is about to read.
func Load(root *cobra.Command, env environment.Variables, named string, reading []string) (*Settings, error) {
	s := &Settings{Keys: KeysOf(root), env: env}
	environment, err := s.environment()
	s.Layers = append([]layer{environment}, Files(env, named, reading)...)
	for i := range s.Layers[1:] {
		err = errors.Join(err, s.read(&s.Layers[i+1]))
	}
	if err != nil {
		return nil, configurationError(err)
	}
	return s, nil
}

func configurationError(err error) error {
	return &exit.Error{Code: exit.Configuration,
		Err: fmt.Errorf("%w\nthe flags of a command are its settings: lastword <command> --help lists them", err)}
}

// Files lists the files of settings. The first one wins.
func Files(env environment.Variables, named string, reading []string) (files []layer) {
	if named == "" {
		named = env.Get("LASTWORD_CONFIG")
	}
	if named != "" {
		files = append(files, layer{Kind: "--config", File: Absolute(named)})
	}
	if project := Absolute(projectFile); named == "" || project != files[0].File {
		files = append(files, layer{Kind: "project", File: project, skipped: belongs(filepath.Dir(project), reading)})
	}
	if dir := env.ConfigFolder(); dir != "" {
		files = append(files, layer{Kind: "user", File: filepath.Join(dir, "lastword", "config.yaml")})
	}
	return files
}

// environment reads LASTWORD_X for the key x. It refuses variables that look like misspelled keys.
func (s *Settings) environment() (layer, error) {
	names, values := s.variables(), map[string]any{}
	for _, k := range s.Keys {
		if value := s.env.Get(k.Variable(s.env)); value != "" {
			values[k.Name] = value
		}
	}
	var wrong error
	for _, variable := range s.env {
		name, _, _ := strings.Cut(variable, "=")
		wrong = errors.Join(wrong, s.checkVariable(names, name))
	}
	tree := koanf.New(".")
	err := tree.Load(confmap.Provider(values, "."), nil)
	return layer{Kind: "environment", Found: true, values: tree.All()}, errors.Join(wrong, err)
}

func (s *Settings) checkVariable(names []string, name string) error {
	if !strings.HasPrefix(name, "LASTWORD_") || slices.Contains(names, name) || slices.Contains(SecretVariables(),
		name) ||
		name == "LASTWORD_CONFIG" || name == TokenVariable {
		return nil
	}
	if near := nearest(names, name); near != "" {
		return unknown("environment", name, near)
	}
	command := func(k Key) bool {
		prefix, _, deep := strings.Cut(k.Name, ".")
		return deep && strings.HasPrefix(name, "LASTWORD_"+strings.ToUpper(prefix)+"_")
	}
	if slices.ContainsFunc(s.Keys, command) {
		return unknown("environment", name, "")
	}
	return nil // not ours
}

func (s *Settings) read(from *layer) error {
	info, err := os.Stat(from.File)
	switch {
	case missing(err) && from.Kind != "--config":
		return nil
	case err == nil && from.skipped:
		from.Found = true
		return nil
	case err == nil && (info.IsDir() || from.Kind != "--config" && !info.Mode().IsRegular()):
		err = fmt.Errorf("%s is not a file", from.File)
	}
	if err != nil {
		return fmt.Errorf("cannot read the settings: %w", err)
	}
	from.Found = true
	return s.load(from)
}

// missing reports whether the file does not exist. A home that is not a folder contains none.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

func (s *Settings) load(from *layer) error {
	text, err := ReadSettings(from.File)
	if err != nil {
		return fmt.Errorf("cannot read the settings: %w", err)
	}
	tree := koanf.New(".")
	if err := tree.Load(rawbytes.Provider(text), yaml.Parser()); err != nil {
		return fmt.Errorf("%s: it is not YAML with a name for each setting: %w", from.File, err)
	}
	from.values, from.text = tree.All(), text
	var wrong error
	for _, name := range slices.Sorted(maps.Keys(from.values)) {
		wrong = errors.Join(wrong, s.check(from, name))
	}
	return wrong
}

// lineOf is the line of the text that has the setting.
func lineOf(text []byte, name string) (line int) {
	var doc yamlv3.Node
	if yamlv3.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return 1
	}
	line = 1
	for at := doc.Content[0]; ; {
		i := slices.IndexFunc(at.Content, func(n *yamlv3.Node) bool {
			return n.Value != "" && (n.Value == name || strings.HasPrefix(name, n.Value+"."))
		})
		if i < 0 || i+1 >= len(at.Content) {
			return line
		}
		line, name = at.Content[i].Line, strings.TrimPrefix(strings.TrimPrefix(name, at.Content[i].Value), ".")
		at = at.Content[i+1]
	}
}

func ReadSettings(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, settingsBytes+1))
	if err == nil && len(text) > settingsBytes {
		err = fmt.Errorf("%s holds more than %s", name, terminal.Size(settingsBytes))
	}
	return text, err
}

// check returns what is wrong with a setting of a file.
func (s *Settings) check(from *layer, name string) error {
	value := from.values[name]
	k, ok := Find(s.Keys, name)
	switch {
	case ok && k.notInProject() && from.Kind == "project":
		return fmt.Errorf("%s: %s is for the command line, the environment or your own file: a project's file does not "+
			"say where prompts and keys go", from.at(name), k)
	case ok:
		if err := k.fits(value); err != nil {
			return fmt.Errorf("%s: %w", s.spelled(*from, k), err)
		}
		return nil
	case s.isSection(name) && (value == nil || isMap(value)):
		delete(from.values, name)
		return nil
	case strings.Contains(strings.ToLower(name), "token"), strings.HasSuffix(strings.ToLower(name), "key"):
		return fmt.Errorf("%s: %s: secrets come from the environment only: %s", from.at(name), terminal.Printable(name),
			strings.Join(SecretVariables(), ", "))
	}
	return unknown(from.at(name), name, nearest(s.names(), name))
}

func unknown(where, name, near string) error {
	if near != "" {
		return fmt.Errorf("%s: no setting is called %s; did you mean %s?", where, terminal.Printable(name), near)
	}
	return fmt.Errorf("%s: no setting is called %s", where, terminal.Printable(name))
}

func (s *Settings) names() []string {
	names := make([]string, len(s.Keys))
	for i, k := range s.Keys {
		names[i] = k.Name
	}
	return names
}

// variables lists the environment variables of the settings.
func (s *Settings) variables() (names []string) {
	for _, k := range s.Keys {
		names = append(names, k.Variables()...)
	}
	return names
}

func (s *Settings) isSection(name string) bool {
	return slices.ContainsFunc(s.Keys, func(k Key) bool { return strings.HasPrefix(k.Name, name+".") })
}

// Effective is the first layer that sets the key, with the value.
func (s *Settings) Effective(k Key) (layer, any, bool) {
	for _, from := range s.Layers {
		if value, ok := from.values[k.Name]; ok {
			return from, value, true
		}
	}
	return layer{}, nil, false
}

// Apply sets every flag that the command line does not set.
func (s *Settings) Apply(known *redact.Secrets) (wrong error) {
	for _, k := range s.Keys {
		from, value, ok := s.Effective(k)
		if ok && !k.Flag.Changed {
			if err := k.set(value); err != nil {
				wrong = errors.Join(wrong, fmt.Errorf("%s: %w", s.spelled(from, k), err))
			}
		}
		if k.Flag.Name == "proxy" {
			addPassword(known, k.Flag.Value.String())
		}
	}
	if wrong != nil {
		return configurationError(wrong)
	}
	return nil
}

// Origin is the source of the key's value, for people.
func (s *Settings) Origin(k Key) string {
	from, _, ok := s.Effective(k)
	switch {
	case k.Flag.Changed:
		return "command line"
	case !ok:
		return "default"
	case from.File == "":
		return "environment: " + k.Variable(s.env)
	}
	return from.Kind + ": " + from.File
}

// Configure sets the flags of a command in the group Working that the command line does not set. Other commands need
// no settings, and so they run even if the settings are wrong.
func Configure(cmd *cobra.Command, args []string, env environment.Variables, named string,
	known *redact.Secrets) error {
	if cmd.GroupID != Working {
		return nil
	}
	s, err := Load(cmd.Root(), env, named, foldersRead(cmd, args))
	if err != nil {
		return err
	}
	if err := s.Apply(known); err != nil {
		return err
	}
	quiet := cmd.Flags().Lookup("quiet")
	for _, from := range s.Layers {
		if from.skipped && from.Found && (quiet == nil || quiet.Value.String() != "true") {
			fmt.Fprintf(cmd.ErrOrStderr(), "lastword: %s is not used: it belongs to the repository that is being read; "+
				"--config %s uses it\n", from.File, projectFile)
		}
	}
	return nil
}

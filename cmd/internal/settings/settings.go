package settings

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/knadh/koanf/parsers/yaml"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
	"github.com/spf13/cobra"
	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/internal/redact"
	"github.com/seed889630bf/lastword/internal/regular"
	"github.com/seed889630bf/lastword/internal/words"
)

// projectFile is the name of the settings file in the current folder.
const projectFile = ".lastword.yaml"

// layer is a source of settings: a file or the environment.
type layer struct {
	Kind  string // environment, --config, project or user
	File  string // absolute path; "" for the environment
	Found bool
	// skipped says that the file belongs to the repository that the command reads, and so must not influence the
	// command.
	skipped bool
	values  map[string]any // by key
	text    []byte
}

// at returns the position of the setting in the layer's file.
func (l layer) at(name string) place { return place{l.File, lineOf(l.text, name)} }

// unfit records that the layer's value for the key is wrong.
func (s *Settings) unfit(l layer, k Key, err error) {
	if l.File == "" {
		s.wrong.add(place{file: k.variable(s.env)}, err.Error(), "correct the value")
		return
	}
	s.wrong.add(l.at(k.Name), k.Name+": "+err.Error(), "correct the value")
}

// Settings holds the values for flags that are not on the command line.
type Settings struct {
	Keys   []Key
	env    environment.Variables
	Layers []layer // strongest first
	wrong  Mistakes
	// ignored is what a project's file says and may not say.
	ignored Mistakes
}

// Load reads the environment and the files, and sets all flags that are not on the command line. named is the file of
// --config, or "". reading lists the folders that the command is about to read. Load names on stderr what it ignores in
// the project's file. The error contains all Mistakes.
func Load(cmd *cobra.Command, env environment.Variables, named string, reading []string,
	known *redact.Secrets) (*Settings, error) {
	s := &Settings{Keys: KeysOf(cmd.Root()), env: env}
	s.Layers = append([]layer{s.environment()}, Files(env, named, reading)...)
	for i := len(s.Layers) - 1; i > 0; i-- { // the user's file first: the project's may only lower its limits
		s.read(&s.Layers[i])
	}
	s.apply(known)
	s.wrong.sort()
	if len(s.wrong) > 0 {
		return nil, &exit.Error{Code: exit.Configuration,
			Err: fmt.Errorf("%w\nthe flags of a command are its settings: lastword <command> --help lists them", s.wrong)}
	}
	s.tell(cmd)
	return s, nil
}

// Files returns the settings files. The first one wins.
func Files(env environment.Variables, named string, reading []string) (files []layer) {
	named = cmp.Or(named, env.Get("LASTWORD_CONFIG"))
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

// environment reads the variables of all keys. It refuses variables that look like misspelled ones.
func (s *Settings) environment() layer {
	from := layer{Kind: "environment", Found: true, values: map[string]any{}}
	for _, k := range s.Keys {
		if value := s.env.Get(k.variable(s.env)); value != "" {
			from.values[k.Name] = value
		}
	}
	names := s.variables()
	for _, variable := range s.env {
		name, _, _ := strings.Cut(variable, "=")
		if near, wrong := s.misspelled(names, name); wrong {
			s.wrong.unknown(place{file: "environment"}, name, near)
		}
	}
	return from
}

// ofService matches the variables that Kubernetes and Docker define for a service named lastword.
var ofService = regexp.MustCompile(`_(SERVICE_HOST|SERVICE_PORT\w*|PORT|PORT_\d+_(TCP|UDP|SCTP)\w*)$`)

// ofRun matches the variables that lastword gives to programs of runs, which may start lastword themselves.
var ofRun = regexp.MustCompile(`^LASTWORD_(RUN|ATTEMPT|EVENTS|EVENTS_VERSION|ANSWERS|RESULT|KEY|GUARD|BACKGROUND)$`)

// misspelled reports whether the variable looks like a setting but is none. near is the name that was probably meant.
func (s *Settings) misspelled(names []string, name string) (near string, wrong bool) {
	if !strings.HasPrefix(name, "LASTWORD_") || slices.Contains(names, name) || ofService.MatchString(name) || ofRun.MatchString(name) {
		return "", false
	}
	near = nearest(names, name)
	return near, near != "" || slices.ContainsFunc(s.Keys, func(k Key) bool {
		prefix, _, deep := strings.Cut(k.Name, ".")
		return deep && strings.HasPrefix(name, "LASTWORD_"+strings.ToUpper(prefix)+"_")
	})
}

// read reads a file of settings. Only the file of --config must exist.
func (s *Settings) read(from *layer) {
	_, err := os.Stat(from.File)
	switch {
	case (errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)) && from.Kind != "--config": // the home may be no folder
		return
	case err == nil && from.skipped:
		from.Found = true
		return
	}
	if err == nil {
		from.Found = true
		from.text, err = regular.Read(from.File, regular.Small)
	}
	if err != nil {
		s.wrong.add(place{file: "cannot read the settings"}, err.Error(), "name another file, or let yourself read this one")
		return
	}
	s.load(from)
}

// load parses the file and checks each setting in it. It reports all faults, not only the first.
func (s *Settings) load(from *layer) {
	tree := koanf.New(".")
	if err := tree.Load(rawbytes.Provider(from.text), yaml.Parser()); err != nil {
		line, says := faultOf(err)
		s.wrong.add(place{from.File, line}, "it is not YAML with a name for each setting: "+says,
			"correct the line; lastword config show prints a file to compare with")
		return
	}
	from.values = tree.All()
	for name := range from.values {
		s.check(from, name)
	}
}

// lineOfFault finds the line in an error of the YAML parser.
var lineOfFault = regexp.MustCompile(`line (\d+): `)

// faultOf returns the first error in a text that is not YAML, with its line. The parser reports no line for errors in
// the first line.
func faultOf(err error) (line int, says string) {
	says = strings.TrimPrefix(err.Error(), "yaml: ")
	says = strings.TrimSpace(strings.TrimPrefix(says, "unmarshal errors:"))
	says, _, _ = strings.Cut(says, "\n")
	if match := lineOfFault.FindStringSubmatch(says); match != nil {
		line, _ = strconv.Atoi(match[1]) // only digits
		says = strings.Replace(says, match[0], "", 1)
	}
	return max(line, 1), says
}

// lineOf returns the line of the text that has the setting.
func lineOf(text []byte, name string) (line int) {
	var doc yamlv3.Node
	if yamlv3.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return 1
	}
	line = 1
	for node := doc.Content[0]; ; {
		i := 0 // keys and values take turns
		for i < len(node.Content) && node.Content[i].Value != name && (node.Content[i].Value == "" || !strings.HasPrefix(name, node.Content[i].Value+".")) {
			i += 2
		}
		if i+1 >= len(node.Content) {
			return line
		}
		line, name = node.Content[i].Line, strings.TrimPrefix(strings.TrimPrefix(name, node.Content[i].Value), ".")
		node = node.Content[i+1]
	}
}

// check records what is wrong with a setting in a file.
func (s *Settings) check(from *layer, name string) {
	value := from.values[name]
	k, ok := Find(s.Keys, name)
	shown := words.Printable(name)
	_, isMap := value.(map[string]any)
	switch {
	case ok && from.Kind == "project" && s.barred(k, value) != "":
		s.ignored.add(from.at(name), s.barred(k, value), "")
		delete(from.values, name)
	case ok:
		if err := k.fits(value); err != nil {
			s.unfit(*from, k, err)
			delete(from.values, name) // so that it is reported once
		}
	case s.isSection(name) && (value == nil || isMap):
		delete(from.values, name)
	case s.isSection(name):
		s.wrong.add(from.at(name), shown+" is a command; its settings are names and values below it", "indent them: "+name+": {NAME: VALUE}")
	case strings.Contains(strings.ToLower(name), "token"), strings.HasSuffix(strings.ToLower(name), "key"):
		s.wrong.add(from.at(name), shown+": secrets come from the environment only: "+strings.Join(SecretVariables(), ", "),
			"take it out, and set the variable")
	default:
		s.wrong.unknown(from.at(name), shown, nearest(s.names(), name))
	}
}

func (s *Settings) names() []string {
	names := make([]string, len(s.Keys))
	for i, k := range s.Keys {
		names[i] = k.Name
	}
	return names
}

// variables returns the environment variables of the program.
func (s *Settings) variables() (names []string) {
	for _, k := range s.Keys {
		names = append(names, k.Variables()...)
	}
	for _, v := range Variables() {
		names = append(names, v.Name)
	}
	return names
}

func (s *Settings) isSection(name string) bool {
	return slices.ContainsFunc(s.Keys, func(k Key) bool { return strings.HasPrefix(k.Name, name+".") })
}

// Effective returns the first layer that sets the key, and the value.
func (s *Settings) Effective(k Key) (layer, any, bool) {
	for _, from := range s.Layers {
		if value, ok := from.values[k.Name]; ok {
			return from, value, true
		}
	}
	return layer{}, nil, false
}

// Value returns the text of the value that the setting has now.
func (s *Settings) Value(name string) string {
	k, _ := Find(s.Keys, name)
	return k.Flag.Value.String()
}

// apply sets all flags that are not on the command line.
func (s *Settings) apply(known *redact.Secrets) {
	for _, k := range s.Keys {
		from, value, ok := s.Effective(k)
		if ok && !k.Flag.Changed {
			if err := k.set(value); err != nil {
				s.unfit(from, k, err)
			}
		}
		name := ""
		if k.Flag.Name == "proxy" {
			name = k.Flag.Name // its URL may have no scheme
		}
		known.Learn(name, k.Flag.Value.String())
	}
}

// Origin describes the source of the key's value.
func (s *Settings) Origin(k Key) string {
	from, _, ok := s.Effective(k)
	switch {
	case k.Flag.Changed:
		return "command line"
	case !ok:
		return "default"
	case from.File == "":
		return "environment: " + k.variable(s.env)
	}
	return from.Kind + ": " + from.File
}

// Configure sets those flags that are not on the command line, for a command in the group Working and for all below such
// a command. Other commands need no settings, so they work even if the settings are wrong.
func Configure(cmd *cobra.Command, args []string, env environment.Variables, named string,
	known *redact.Secrets) error {
	for parent := cmd; parent.GroupID != Working; parent = parent.Parent() {
		if parent.GroupID != "" || !parent.HasParent() {
			return nil
		}
	}
	_, err := Load(cmd, env, named, foldersRead(cmd, args), known)
	return err
}

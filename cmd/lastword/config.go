package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/words"
)

func configCommand(p *host.Program) *cobra.Command {
	return settings.Parent("config", configShowCommand(p), configPathCommand(p))
}

// variables returns a line for each variable that does not belong to a flag.
func variables() string {
	var b strings.Builder
	for _, v := range settings.Variables() {
		fmt.Fprintf(&b, "  %-24s %s\n", v.Name, v.Meaning)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// setting is a key with its value, in the output of config show --json.
type setting struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Origin string `json:"origin"`
	unset  string // says that there is no value
}

// secret says whether a token or key is set, and nothing more.
type secret struct {
	Name string `json:"name"`
	Set  bool   `json:"set"`
}

// configuredAs is the answer of config show. Of secrets it says only whether they are set.
type configuredAs struct {
	Settings []setting `json:"settings"`
	Secrets  []secret  `json:"secrets"`
}

func configShowCommand(p *host.Program) *cobra.Command {
	var origin, asJSON bool
	cmd := &cobra.Command{
		Use: "show",
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := settings.Load(cmd, p.Env, p.ConfigFile, nil, p.Secrets)
			if err != nil {
				return err
			}
			all := configured(s, p.Env)
			if asJSON {
				return terminal.PrintJSON(cmd.OutOrStdout(), all)
			}
			return all.print(cmd, origin)
		},
	}
	cmd.Flags().BoolVar(&origin, "origin", false, "print where each value comes from")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with the origins")
	return cmd
}

// configured collects the settings with their values and origins.
func configured(s *settings.Settings, env environment.Variables) configuredAs {
	var all configuredAs
	for _, k := range s.Keys {
		all.Settings = append(all.Settings, setting{k.Name, valueOf(k.Flag), s.Origin(k), unset(k.Flag)})
	}
	for _, name := range settings.SecretVariables() {
		all.Secrets = append(all.Secrets, secret{name, env.Get(name) != ""})
	}
	return all
}

// valueOf returns the flag's value for JSON.
func valueOf(f *pflag.Flag) any {
	if many, ok := f.Value.(pflag.SliceValue); ok {
		return append([]string{}, many.GetSlice()...) // never null
	}
	text := f.Value.String()
	if kind := f.Value.Type(); kind == "bool" || settings.IsNumber(kind) {
		return json.RawMessage(text)
	}
	return text
}

// print prints the settings as YAML that can be a file of settings.
func (all configuredAs) print(cmd *cobra.Command, origin bool) error {
	var b strings.Builder
	for _, s := range all.Settings {
		line, err := s.line()
		if err != nil {
			return err
		}
		if origin {
			line = terminal.Pad(line, 32) + "  # " + s.Origin
		}
		fmt.Fprintln(&b, words.Printable(line))
	}
	for _, s := range all.Secrets {
		fmt.Fprintf(&b, "# %s: %s\n", s.Name, map[bool]string{true: "set", false: "not set"}[s.Set])
	}
	_, err := fmt.Fprint(cmd.OutOrStdout(), b.String())
	return err
}

// unset describes a flag that is not set, with its default if the help mentions one. For a flag with a value it returns
// "".
func unset(f *pflag.Flag) string {
	if value := f.Value.String(); value != f.DefValue || value != "" && value != "0" && value != "0s" {
		return ""
	}
	if _, rest, ok := strings.Cut(f.Usage, "(default "); ok {
		return "not set (" + rest
	}
	return "not set"
}

// line returns the setting as YAML. JSON values are valid YAML.
func (s setting) line() (string, error) {
	if s.unset != "" {
		return "# " + s.Key + ": " + s.unset, nil
	}
	value, err := json.Marshal(s.Value)
	return s.Key + ": " + string(value), err
}

func configPathCommand(p *host.Program) *cobra.Command {
	return &cobra.Command{
		Use: "path",
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, from := range settings.Files(p.Env, p.ConfigFile, nil) {
				state := "missing"
				if _, err := os.Stat(from.File); err == nil {
					state = "exists"
				}
				line := fmt.Sprintf("%-8s  %-7s  %s", from.Kind, state, words.Printable(from.File))
				if _, err := fmt.Fprintln(cmd.OutOrStdout(), line); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

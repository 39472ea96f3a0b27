package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/internal/words"
)

// Key is a flag with its name in the settings. For example, generate.out in a file is LASTWORD_GENERATE_OUT in the
// environment.
type Key struct {
	Name string
	Flag *pflag.Flag
}

// variable returns the environment variable that sets the key, or that would.
func (k Key) variable(env environment.Variables) string {
	for _, name := range k.Variables() {
		if env.Get(name) != "" {
			return name
		}
	}
	return k.env()
}

// Variables returns all environment variables that may set the key.
func (k Key) Variables() []string { return append([]string{k.env()}, shared[k.Flag.Name]...) }

func (k Key) env() string {
	return "LASTWORD_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(k.Name))
}

// KeysOf returns the flags that are settings: the flags of all commands, and the flags of the commands in the group Working.
func KeysOf(root *cobra.Command) []Key {
	return append(flagKeys(root.PersistentFlags(), ""), keysBelow(root, "")...)
}

// keysBelow returns the keys of the command's subcommands.
func keysBelow(parent *cobra.Command, prefix string) (keys []Key) {
	for _, cmd := range parent.Commands() {
		if cmd.GroupID == Working {
			flags, name := cmd.LocalNonPersistentFlags(), prefix+cmd.Name()+"."
			flags.SortFlags = false
			keys = append(append(keys, flagKeys(flags, name)...), flagKeys(cmd.PersistentFlags(), name)...)
			keys = append(keys, keysBelow(cmd, name)...)
		}
	}
	return keys
}

// notSetting is the annotation of flags that are not settings.
const notSetting = "lastword_not_setting"

// FlagOnly marks flags as not being settings, because they make the command do something else.
func FlagOnly(flags *pflag.FlagSet, names ...string) {
	for _, name := range names {
		Must(flags.SetAnnotation(name, notSetting, nil))
	}
}

// flagKeys returns the keys of the flags, without --config and flags that are not settings.
func flagKeys(flags *pflag.FlagSet, prefix string) (keys []Key) {
	flags.VisitAll(func(f *pflag.Flag) {
		_, other := f.Annotations[notSetting]
		if f.Name != "help" && prefix+f.Name != "config" && !f.Hidden && !other {
			keys = append(keys, Key{prefix + f.Name, f})
		}
	})
	return keys
}

// Find returns the key with the name.
func Find(keys []Key, name string) (Key, bool) {
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return keys[i], true
}

// fits returns an error if the value from a file has the wrong type.
func (k Key) fits(value any) error {
	kind := k.Flag.Value.Type()
	ok := kind != "bool" && kind != "string" && kind != "duration"
	switch value := value.(type) {
	case nil, map[string]any:
		ok = false
	case []any:
		if _, many := k.Flag.Value.(pflag.SliceValue); many {
			_, err := texts(value)
			return err
		}
		ok = false
	case bool:
		ok = kind == "bool" || !isPlain(kind)
	case string:
		ok = kind != "bool" && !IsNumber(kind)
	}
	if !ok {
		return fmt.Errorf("%s, not %q", expected(kind), fmt.Sprint(value))
	}
	return nil
}

func IsNumber(kind string) bool {
	return strings.HasPrefix(kind, "int") || strings.HasPrefix(kind, "uint")
}

// isPlain reports whether the flag has a type of pflag. Other types check their values themselves.
func isPlain(kind string) bool {
	return kind == "string" || kind == "duration" || kind == "float64" || IsNumber(kind) || strings.HasPrefix(kind, "string")
}

// expected returns what a setting of this kind must be, for an error.
func expected(kind string) string {
	switch {
	case kind == "bool":
		return "must be true or false"
	case kind == "duration":
		return `must be a time such as "90s"`
	case IsNumber(kind):
		return "must be a whole number"
	case kind == "float64":
		return "must be a number such as 0.5"
	case strings.HasPrefix(kind, "string") && kind != "string":
		return "must be a list of texts"
	case kind == "string":
		return "must be a text; put it in quotes"
	}
	return "must be " + strings.ReplaceAll(kind, "|", ", ")
}

// texts converts a list from YAML, which may hold values of any type.
func texts(list []any) ([]string, error) {
	words := make([]string, len(list))
	for i, item := range list {
		word, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("must be a list of texts; %q is not a text", fmt.Sprint(item))
		}
		words[i] = word
	}
	return words, nil
}

// set sets the flag, but does not mark it as set on the command line.
func (k Key) set(value any) error {
	if many, ok := k.Flag.Value.(pflag.SliceValue); ok {
		if list, ok := value.([]any); ok {
			words, err := texts(list)
			return errors.Join(err, many.Replace(words))
		}
	}
	word := fmt.Sprint(value)
	err := k.Flag.Value.Set(word)
	if kind := k.Flag.Value.Type(); err != nil && (isPlain(kind) || kind == "bool") {
		return fmt.Errorf("%s, not %q", expected(kind), word)
	}
	return err
}

// nearest returns the key that the user probably meant, or "".
func nearest(keys []string, name string) string {
	best, least := "", max(2, len(name)/4)+1
	for _, k := range keys {
		if strings.HasSuffix(k, "."+name) {
			return k
		}
		if d := words.Distance(k, name); d < least {
			best, least = k, d
		}
	}
	return best
}

// MeantFlag returns a hint for an error about an unknown flag, or "".
func MeantFlag(cmd *cobra.Command, err error) string {
	wrong, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return ""
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	if near := nearest(names, "--"+wrong.GetSpecifiedName()); near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	return ""
}

// BadValue turns pflag's error about a value into an error that says what the value must be.
func BadValue(err error) error {
	wrong, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	name, kind, must := wrong.GetFlag().Name, wrong.GetFlag().Value.Type(), wrong.Unwrap().Error()
	if (isPlain(kind) || kind == "bool") && !errors.Is(err, errNoText) {
		must = expected(kind)
	}
	return fmt.Errorf("--%s %q: %s", name, wrong.GetValue(), must)
}

func Negative(flag string) error { return fmt.Errorf("%s must not be negative", flag) }

// Groups of commands. Only the flags of commands in the group Working are settings.
const (
	Working = "working"
	Helping = "helping"
)

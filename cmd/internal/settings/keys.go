package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/environment"
	"github.com/seed889630bf/lastword/messages/words"
)

// Key is a flag as configuration names it: generate.out in a file, LASTWORD_GENERATE_OUT in the environment.
type Key struct {
	Name string
	Flag *pflag.Flag
}

func (k Key) String() string { return k.Name }

// NotInProject marks a flag that a project's file must not give.
const NotInProject = "lastword_own_only"

// alsoVariables lists the variables that give a flag its value where its own does not.
const alsoVariables = "lastword_also_called"

// Variable is that of the environment which gives the key, or would.
func (k Key) Variable(env environment.Variables) string {
	for _, name := range k.Variables() {
		if env.Get(name) != "" {
			return name
		}
	}
	return k.env()
}

func (k Key) Variables() []string {
	return append([]string{k.env()}, k.Flag.Annotations[alsoVariables]...)
}

func (k Key) notInProject() bool { _, own := k.Flag.Annotations[NotInProject]; return own }

func (k Key) env() string {
	return "LASTWORD_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(k.Name))
}

// KeysOf lists the flags that configuration may give: those of every command, and those of each that works.
func KeysOf(root *cobra.Command) []Key {
	return append(flagKeys(root.PersistentFlags(), ""), keysBelow(root, "")...)
}

// keysBelow are those of the commands of a command.
func keysBelow(parent *cobra.Command, prefix string) (keys []Key) {
	for _, cmd := range parent.Commands() {
		if cmd.GroupID == Working {
			flags, name := cmd.LocalNonPersistentFlags(), prefix+cmd.Name()+"."
			flags.SortFlags = false
			keys = append(append(keys, flagKeys(flags, name)...), keysBelow(cmd, name)...)
		}
	}
	return keys
}

// NotSetting marks a flag that asks for something else than the command's work.
const NotSetting = "lastword_not_setting"

// flagKeys leaves out what says where the configuration is, and what asks for no work.
func flagKeys(flags *pflag.FlagSet, prefix string) (keys []Key) {
	flags.VisitAll(func(f *pflag.Flag) {
		_, other := f.Annotations[NotSetting]
		if f.Name != "help" && prefix+f.Name != "config" && !f.Hidden && !other {
			keys = append(keys, Key{prefix + f.Name, f})
		}
	})
	return keys
}

func Find(keys []Key, name string) (Key, bool) {
	i := slices.IndexFunc(keys, func(k Key) bool { return k.Name == name })
	if i < 0 {
		return Key{}, false
	}
	return keys[i], true
}

// fits says what the value must be where a file gives something else.
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

func isMap(value any) bool { _, ok := value.(map[string]any); return ok }

func IsNumber(kind string) bool {
	return strings.HasPrefix(kind, "int") || strings.HasPrefix(kind, "uint")
}

// isPlain: a flag of another type has words of its own, and judges itself what it is set to.
func isPlain(kind string) bool {
	return kind == "string" || kind == "duration" || IsNumber(kind) || strings.HasPrefix(kind, "string")
}

func expected(kind string) string {
	switch {
	case kind == "bool":
		return "must be true or false"
	case kind == "duration":
		return `must be a time such as "90s"`
	case IsNumber(kind):
		return "must be a whole number"
	case strings.HasPrefix(kind, "string") && kind != "string":
		return "must be a list of texts"
	case kind == "string":
		return "must be a text; put it in quotes"
	}
	return "must be " + strings.ReplaceAll(kind, "|", ", ")
}

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

// set gives the flag a value that fits, without marking it as given on the command line.
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

// nearest is the key that was probably meant, or "".
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

// BadValue says what a flag's value must be, in the words that settings have for it.
func BadValue(err error) error {
	wrong, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	name, kind, must := wrong.GetFlag().Name, wrong.GetFlag().Value.Type(), wrong.Unwrap().Error()
	if isPlain(kind) || kind == "bool" {
		must = expected(kind)
	}
	return fmt.Errorf("--%s %q: %s", name, wrong.GetValue(), must)
}

func Negative(flag string) error { return fmt.Errorf("%s must not be negative", flag) }

// The groups of commands: those that work take their flags from the configuration as well.
const (
	Working = "working"
	Helping = "helping"
)

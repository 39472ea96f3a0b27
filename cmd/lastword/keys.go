package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// key is a flag as configuration names it: generate.out in a file, LASTWORD_GENERATE_OUT in the environment.
type key struct {
	name string
	flag *pflag.Flag
}

func (k key) String() string { return k.name }

// ownOnly marks a flag that a project's file must not give.
const ownOnly = "lastword_own_only"

// alsoCalled lists the variables that give a flag its value where its own does not.
const alsoCalled = "lastword_also_called"

// variable is that of the environment which gives the key, or would.
func (k key) variable() string {
	for _, name := range k.variables() {
		if os.Getenv(name) != "" {
			return name
		}
	}
	return k.env()
}

func (k key) variables() []string {
	return append([]string{k.env()}, k.flag.Annotations[alsoCalled]...)
}

func (k key) ownOnly() bool { _, own := k.flag.Annotations[ownOnly]; return own }

func (k key) env() string {
	return "LASTWORD_" + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(k.name))
}

// keysOf lists the flags that configuration may give: those of every command, and those of each that works.
func keysOf(root *cobra.Command) []key {
	return append(flagKeys(root.PersistentFlags(), ""), keysBelow(root, "")...)
}

// keysBelow are those of the commands of a command.
func keysBelow(parent *cobra.Command, prefix string) (keys []key) {
	for _, cmd := range parent.Commands() {
		if cmd.GroupID == working {
			flags, name := cmd.LocalNonPersistentFlags(), prefix+cmd.Name()+"."
			flags.SortFlags = false
			keys = append(append(keys, flagKeys(flags, name)...), keysBelow(cmd, name)...)
		}
	}
	return keys
}

// notSetting marks a flag that asks for something else than the command's work.
const notSetting = "lastword_not_setting"

// flagKeys leaves out what says where the configuration is, and what asks for no work.
func flagKeys(flags *pflag.FlagSet, prefix string) (keys []key) {
	flags.VisitAll(func(f *pflag.Flag) {
		_, other := f.Annotations[notSetting]
		if f.Name != "help" && prefix+f.Name != "config" && !f.Hidden && !other {
			keys = append(keys, key{prefix + f.Name, f})
		}
	})
	return keys
}

func find(keys []key, name string) (key, bool) {
	i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
	if i < 0 {
		return key{}, false
	}
	return keys[i], true
}

// fits says what the value must be where a file gives something else.
func (k key) fits(value any) error {
	kind := k.flag.Value.Type()
	ok := kind != "bool" && kind != "string" && kind != "duration"
	switch value := value.(type) {
	case nil, map[string]any:
		ok = false
	case []any:
		if _, many := k.flag.Value.(pflag.SliceValue); many {
			_, err := texts(value)
			return err
		}
		ok = false
	case bool:
		ok = kind == "bool" || !isPlain(kind)
	case string:
		ok = kind != "bool" && !isNumber(kind)
	}
	if !ok {
		return fmt.Errorf("%s, not %q", expected(kind), fmt.Sprint(value))
	}
	return nil
}

func isMap(value any) bool { _, ok := value.(map[string]any); return ok }

func isNumber(kind string) bool {
	return strings.HasPrefix(kind, "int") || strings.HasPrefix(kind, "uint")
}

// isPlain: a flag of another type has words of its own, and judges itself what it is set to.
func isPlain(kind string) bool {
	return kind == "string" || kind == "duration" || isNumber(kind) || strings.HasPrefix(kind, "string")
}

func expected(kind string) string {
	switch {
	case kind == "bool":
		return "it is true or false"
	case kind == "duration":
		return `it is a time like "90s"`
	case isNumber(kind):
		return "it is a whole number"
	case strings.HasPrefix(kind, "string") && kind != "string":
		return "it is a list of texts"
	case kind == "string":
		return "it is a text (in quotes where it looks like something else)"
	}
	return "it is " + strings.ReplaceAll(kind, "|", ", ")
}

func texts(list []any) ([]string, error) {
	words := make([]string, len(list))
	for i, item := range list {
		word, ok := item.(string)
		if !ok {
			return nil, fmt.Errorf("it is a list of texts, and %q is none", fmt.Sprint(item))
		}
		words[i] = word
	}
	return words, nil
}

// set gives the flag a value that fits, without marking it as given on the command line.
func (k key) set(value any) error {
	if many, ok := k.flag.Value.(pflag.SliceValue); ok {
		if list, ok := value.([]any); ok {
			words, err := texts(list)
			return errors.Join(err, many.Replace(words))
		}
	}
	word := fmt.Sprint(value)
	err := k.flag.Value.Set(word)
	if kind := k.flag.Value.Type(); err != nil && (isPlain(kind) || kind == "bool") {
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
		if d := distance(k, name); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is how many letters differ.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

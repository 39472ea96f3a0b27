package settings

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
)

// A project's file is the work of strangers. It sets only flags that say so where they are declared; a test fails for a
// flag that has not decided.

// setBy is the annotation of flags that says who may set them in a file.
const setBy = "lastword_set_by"

// Values of setBy.
const (
	operatorSets  = "operator"
	projectSets   = "project"
	projectLowers = "project, to lower it"
)

// ByProject lets a project's file set the flags. A text must then be a bare name: no URL, no host and no path.
func ByProject(flags *pflag.FlagSet, names ...string) { decide(flags, projectSets, names) }

// LoweredByProject lets a project's file set the flags, which are limits, but not above what the operator has set.
func LoweredByProject(flags *pflag.FlagSet, names ...string) { decide(flags, projectLowers, names) }

// ByOperator keeps a project's file from setting the flags: those that say where something is read or written, whom to
// trust or what may run, and those that no project needs. Without names it does so for all flags that the set has.
func ByOperator(flags *pflag.FlagSet, names ...string) {
	if names == nil {
		flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	}
	decide(flags, operatorSets, names)
}

func decide(flags *pflag.FlagSet, who string, names []string) {
	for _, name := range names {
		Must(flags.SetAnnotation(name, setBy, []string{who}))
	}
}

// Project reports whether a project's file may set the key. decided is false if the flag does not say.
func (k Key) Project() (may, decided bool) {
	who := strings.Join(k.Flag.Annotations[setBy], "")
	return who == projectSets || who == projectLowers, who != ""
}

// bareName matches the name of a model, with a tag such as llama3:8b. A tag without letters could be a port.
var bareName = regexp.MustCompile(`^[A-Za-z0-9][\w.+@-]*(:[\w.+-]*[A-Za-z][\w.+-]*)?$`)

// barred names the key and says why a project's file may not give it this value. It returns "" if the file may.
func (s *Settings) barred(k Key, value any) string {
	may, _ := k.Project()
	_, list := value.([]any)
	text, most, kind := fmt.Sprint(value), s.operators(k), k.Flag.Value.Type()
	switch lowers := slices.Contains(k.Flag.Annotations[setBy], projectLowers); {
	case !may:
		return k.Name
	case kind == "budget" && !lowersBudget(text, most):
		return k.Name + " above yours"
	case kind == "budget":
		return ""
	case lowers && math.IsInf(amount(kind, text), 1):
		return k.Name + " without a limit"
	case lowers && most != "" && amount(kind, text) > amount(kind, most):
		return k.Name + " above your " + most
	case !lowers && !list && !bareName.MatchString(text):
		return k.Name + " that is no bare name"
	}
	return ""
}

// operators returns the value that the operator has set, or "". The file of --config wins over the project's anyway.
func (s *Settings) operators(k Key) string {
	for _, from := range s.Layers {
		if value, ok := from.values[k.Name]; ok && from.Kind != "project" {
			return fmt.Sprint(value)
		}
	}
	return ""
}

// amount returns the size of a limit: a time, or a number that may have a unit. What is not positive is no limit.
func amount(kind, text string) float64 {
	var size ByteSize
	n, err := time.ParseDuration(text)
	if kind != "duration" {
		err = size.Set(text)
		n = time.Duration(size)
	}
	if err != nil || n <= 0 {
		return math.Inf(1)
	}
	return float64(n)
}

// lowersBudget reports whether each limit of a budget is as low as the same limit of the other, if it has one.
func lowersBudget(text, than string) bool {
	b, err := messages.ParseBudget(text)
	if than == "" {
		return err == nil
	}
	most, wrong := messages.ParseBudget(than)
	limits := b.Amounts()
	for i, limit := range most.Amounts() {
		if limit > 0 && (limits[i] == 0 || limits[i] > limit) {
			return false
		}
	}
	return err == nil && wrong == nil
}

// told is the annotation of the root command that keeps tell from repeating itself.
const told = "lastword_told"

// tell says in one line what of the project's file is not used, and how to use it.
func (s *Settings) tell(cmd *cobra.Command) {
	quiet, root := cmd.Flags().Lookup("quiet"), cmd.Root()
	i := slices.IndexFunc(s.Layers, func(l layer) bool { return l.Kind == "project" && l.Found })
	if i < 0 || root.Annotations[told] != "" || quiet != nil && quiet.Value.String() == "true" {
		return
	}
	var names []string
	s.ignored.sort()
	for _, m := range s.ignored {
		names = append(names, fmt.Sprintf("%s (line %d)", m.Says, m.At.line))
	}
	says := ": it belongs to the repository that is being read"
	if !s.Layers[i].skipped {
		says = " for " + strings.Join(names, ", ") + ": a project does not set that"
	}
	if s.Layers[i].skipped || names != nil {
		root.Annotations = map[string]string{told: projectFile}
		fmt.Fprintf(cmd.ErrOrStderr(), "lastword: %s is not used%s; --config %s uses it\n",
			words.Printable(s.Layers[i].File), says, projectFile)
	}
}

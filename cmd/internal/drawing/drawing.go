package drawing

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/internal/plan"
)

// does describes what a step does, in a few words.
func does(s *plan.Step) string {
	switch {
	case s.Plan != nil:
		if len(s.Plan.Steps) == 1 {
			return "plan of one step"
		}
		return fmt.Sprintf("plan of %d steps", len(s.Plan.Steps))
	case s.Read != nil:
		return "read " + s.Read.Name
	case s.Write != nil:
		return "write " + s.Write.Name
	case s.Ask != nil:
		return "ask"
	case s.Receive != nil:
		return "receive"
	}
	return s.Job
}

// when describes what must happen before the step starts, and how often it runs.
func when(s *plan.Step) (all []string) {
	if len(s.Needs) > 0 {
		how := ""
		if s.Join == plan.Any || s.Join == plan.First {
			how = string(s.Join) + " of "
		}
		all = append(all, "after "+how+strings.Join(s.Needs, ", "))
	}
	if s.If != "" {
		all = append(all, "if "+s.If)
	}
	if s.ForEach != nil {
		all = append(all, fmt.Sprintf("for each of %v", s.ForEach))
	}
	switch r := s.Repeat; {
	case r == nil:
	case r.Until != "":
		all = append(all, fmt.Sprintf("until %s, at most %d times", r.Until, r.Most))
	default:
		all = append(all, fmt.Sprintf("%d times", r.Most))
	}
	if s.Retry != nil {
		all = append(all, fmt.Sprintf("%d attempts", s.Retry.Attempts))
	}
	return all
}

// Text draws the graph as text: one line per step, in an order in which they can run.
func Text(p *plan.Plan) string {
	var b strings.Builder
	lines(&b, p, "")
	return b.String()
}

// lines writes a line for each step, and the steps of inner plans below theirs.
func lines(b *strings.Builder, p *plan.Plan, indent string) {
	failures := map[string][]string{}
	for _, s := range p.Steps {
		for _, handler := range s.OnFailure {
			failures[handler] = append(failures[handler], s.Name)
		}
	}
	for _, i := range p.Order() {
		s := &p.Steps[i]
		words := when(s)
		if from := failures[s.Name]; from != nil {
			words = append(words, "on a failure of "+strings.Join(from, ", "))
		}
		fmt.Fprintf(b, "%s%s: %s", indent, s.Name, does(s))
		if len(words) > 0 {
			fmt.Fprintf(b, " (%s)", strings.Join(words, "; "))
		}
		b.WriteString("\n")
		if s.Plan != nil {
			lines(b, s.Plan, indent+"  ")
		}
	}
}

// Mermaid draws the graph as a Mermaid diagram. Dotted arrows lead to failure handlers.
func Mermaid(p *plan.Plan) string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "  %s[\"%s: %s\"]\n", s.Name, s.Name, quoted(does(&s)))
	}
	for _, s := range p.Steps {
		label := ""
		if s.If != "" {
			label = "|\"" + quoted(s.If) + "\"|"
		}
		for _, name := range s.Needs {
			fmt.Fprintf(&b, "  %s -->%s %s\n", name, label, s.Name)
		}
		for _, name := range slices.DeleteFunc(slices.Clone(s.OnFailure), func(n string) bool { return n == plan.Continue }) {
			fmt.Fprintf(&b, "  %s -. fails .-> %s\n", s.Name, name)
		}
	}
	return b.String()
}

// quoted escapes a text for use within a label.
func quoted(text string) string {
	return strings.NewReplacer(`"`, "#quot;", "\n", " ", "<", "#lt;", ">", "#gt;").Replace(text)
}

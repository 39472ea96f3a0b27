package plan

import (
	"fmt"
	"slices"
	"strings"
)

// does is what a step does, in a few words.
func (s *Step) does() string {
	switch {
	case s.Plan != nil:
		return fmt.Sprintf("plan of %d steps", len(s.Plan.Steps))
	case s.Read != nil:
		return "read " + s.Read.Name
	case s.Write != nil:
		return "write " + s.Write.Name
	case s.Ask != nil:
		return "ask"
	}
	return s.Job
}

// when is on what the step starts, and how often.
func (s *Step) when() (all []string) {
	if len(s.Needs) > 0 {
		how := ""
		if s.Join == Any || s.Join == First {
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

// Text draws the graph: the steps in an order in which they can run, one on a line.
func (p *Plan) Text() string {
	var b strings.Builder
	p.lines(&b, "")
	return b.String()
}

func (p *Plan) lines(b *strings.Builder, indent string) {
	failures := map[string][]string{}
	for _, s := range p.Steps {
		for _, handler := range s.OnFailure {
			failures[handler] = append(failures[handler], s.Name)
		}
	}
	for _, i := range p.inOrder() {
		s := &p.Steps[i]
		words := s.when()
		if from := failures[s.Name]; from != nil {
			words = append(words, "on a failure of "+strings.Join(from, ", "))
		}
		fmt.Fprintf(b, "%s%s: %s", indent, s.Name, s.does())
		if len(words) > 0 {
			fmt.Fprintf(b, " (%s)", strings.Join(words, "; "))
		}
		b.WriteString("\n")
		if s.Plan != nil {
			s.Plan.lines(b, indent+"  ")
		}
	}
}

// inOrder lists the steps so that each comes after those it waits for.
func (p *Plan) inOrder() (order []int) {
	index, g := map[string]int{}, graph{steps: make([]node, len(p.Steps))}
	for i := range p.Steps {
		index[p.Steps[i].Name] = i
	}
	for i := range p.Steps {
		for _, name := range p.Steps[i].Needs {
			g.steps[i].needs = append(g.steps[i].needs, index[name])
		}
		for _, name := range p.Steps[i].OnFailure {
			if name != Continue {
				g.steps[index[name]].handles = append(g.steps[index[name]].handles, i)
			}
		}
	}
	order, _ = g.order()
	return order
}

// Mermaid draws the graph in the language of Mermaid: a dotted arrow is for a failure.
func (p *Plan) Mermaid() string {
	var b strings.Builder
	b.WriteString("flowchart TD\n")
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "  %s[\"%s: %s\"]\n", s.Name, s.Name, quoted(s.does()))
	}
	for _, s := range p.Steps {
		label := ""
		if s.If != "" {
			label = "|\"" + quoted(s.If) + "\"|"
		}
		for _, name := range s.Needs {
			fmt.Fprintf(&b, "  %s -->%s %s\n", name, label, s.Name)
		}
		for _, name := range slices.DeleteFunc(slices.Clone(s.OnFailure), func(n string) bool { return n == Continue }) {
			fmt.Fprintf(&b, "  %s -. fails .-> %s\n", s.Name, name)
		}
	}
	return b.String()
}

// quoted is a text within a label.
func quoted(text string) string {
	return strings.NewReplacer(`"`, "#quot;", "\n", " ", "<", "#lt;", ">", "#gt;").Replace(text)
}

// Asks reports whether the plan, or one within it, asks people.
func (p *Plan) Asks() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Ask != nil || s.Plan != nil && s.Plan.Asks() })
}

package command

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/seed889630bf/lastword/actors"
	"github.com/seed889630bf/lastword/internal/packed"
	"github.com/seed889630bf/lastword/internal/schedule"
	"github.com/seed889630bf/lastword/internal/validate"
)

// fileSchema is the JSON Schema of an operator's file.
//
//go:embed schema.json.gz
var fileSchema string

var fileForm = sync.OnceValue(func() *validate.Schema { return validate.MustCompile(packed.Text(fileSchema)) })

// File is the content of an operator's file: commands, and schedules.
type File struct {
	Jobs      map[string]*Command
	Schedules []schedule.Schedule
	Agents    map[string]Agent
}

// Read reads an operator's file, which is YAML. Its error lists all faults, each with line and column. taken are the
// names of the node's other jobs.
func Read(text []byte, taken []string) (*File, error) {
	var parts struct {
		Jobs      map[string]json.RawMessage `json:"jobs"`
		Schedules []json.RawMessage          `json:"schedules"`
		Agents    map[string]Agent           `json:"agents"`
	}
	places, wrong, ok := validate.ReadYAML(text, fileForm(), &parts)
	if !ok {
		return nil, wrong.Err()
	}
	if len(parts.Agents) > 0 {
		taken = append(slices.Clip(taken), "agent")
	}
	file := &File{Jobs: map[string]*Command{}, Agents: parts.Agents, Schedules: make([]schedule.Schedule, len(parts.Schedules))}
	for _, name := range slices.Sorted(maps.Keys(parts.Jobs)) {
		c, place := &Command{}, validate.Below("jobs", name)
		file.Jobs[name] = c
		if err := json.Unmarshal(parts.Jobs[name], c); err != nil { // the form has reported the fault
			continue
		}
		if c.Name = name; slices.Contains(taken, name) {
			wrong = append(wrong, places.Problem(place, "there is a job %s already: take another name", name))
		}
		known := func(p validate.FileProblem) bool { return p.Path == place+".command" || p.Path == place+".input" }
		if faults := c.compile(places, place); !slices.ContainsFunc(wrong, known) { // otherwise they may follow from that one
			wrong = append(wrong, faults...)
		}
	}
	for i, one := range parts.Schedules {
		_ = json.Unmarshal(one, &file.Schedules[i]) // the form has reported any fault
	}
	wrong = append(wrong, file.checkSchedules(places, taken)...)
	return file, wrong.Err()
}

// checkSchedules also checks each schedule's input against its job's parameters.
func (f *File) checkSchedules(places validate.Places, taken []string) (wrong validate.FileProblems) {
	seen := map[string]bool{}
	for i := range f.Schedules {
		s := &f.Schedules[i]
		place := fmt.Sprintf("schedules.%d", i)
		switch c := f.Jobs[s.Job]; {
		case seen[s.Name]:
			wrong = append(wrong, places.Problem(place+".name", "there is a schedule %s already", s.Name))
		case c == nil && !slices.Contains(taken, s.Job):
			wrong = append(wrong, places.Problem(place+".job", "there is no job %s", s.Job))
		case c != nil && c.form != nil:
			if _, err := c.values(s.Input); err != nil {
				wrong = append(wrong, places.Problem(place+".input", "%v", err))
			}
		}
		seen[s.Name] = true
		if err := s.Check(); err != nil {
			wrong = append(wrong, places.Problem(place, "%v", err))
		}
	}
	return wrong
}

// Definitions returns the file's commands as jobs, sorted by name.
func (f *File) Definitions(config Config) (jobs []actors.Definition) {
	for _, name := range slices.Sorted(maps.Keys(f.Jobs)) {
		jobs = append(jobs, f.Jobs[name].define(config))
	}
	return jobs
}

// Agent says what callers may do with a coding agent. [File.Agents] names it.
type Agent struct {
	// Command starts the agent, which speaks ACP; agents that are known by name need none.
	Command []string `json:"command"`
	// Roots are the folders in or below which it may work.
	Roots []string `json:"roots"`
	// Mode is the mode in which it starts; ask is the default.
	Mode string `json:"mode"`
	// Env lists more variables for it, as Command.Env does, and Starts the commands and agents that it may start.
	Env    []string `json:"env"`
	Starts []string `json:"starts"`
}

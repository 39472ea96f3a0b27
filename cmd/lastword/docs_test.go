package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed889630bf/lastword/cmd/internal/exit"
	"github.com/seed889630bf/lastword/cmd/internal/host"
	"github.com/seed889630bf/lastword/cmd/internal/settings"
	"github.com/seed889630bf/lastword/cmd/internal/terminal"
	"github.com/seed889630bf/lastword/internal/fatal"
)

const cliIntroduction = `# The command line

` + "`lastword <command> --help`" + ` prints the same text. Data goes to stdout, everything else to stderr.

Some flags below have an environment variable and a key. The first of these that gives a value wins: the command line,
the environment, the file of ` + "`--config`, `.lastword.yaml`" + ` in the current folder,
` + "`$XDG_CONFIG_HOME/lastword/config.yaml`" + ` or ` + "`~/.config/lastword/config.yaml`" + `, the default. A
project's ` + "`.lastword.yaml`" + ` sets only the keys that are marked with *project*. A key
` + "`generate.out`" + ` is written in YAML as ` + "`generate: {out: docs}`" + `.
`

// The page of the command line is made from the commands; make update rewrites it.
func TestCLIPage(t *testing.T) {
	text, err := os.ReadFile("help.txt")
	if must(t, err); *update {
		packedHelp = string(fatal.Packed(t, text)) // TestPacked of testkit writes it
	}
	root := rootCommand(new(host.Program))
	keys := map[*pflag.Flag]settings.Key{}
	for _, k := range settings.KeysOf(root) {
		keys[k.Flag] = k
	}
	var b strings.Builder
	b.WriteString(cliIntroduction)
	b.WriteString("\n| exit code | meaning |\n|---|---|\n")
	for _, code := range slices.Sorted(maps.Keys(exit.Meanings)) {
		fmt.Fprintf(&b, "| %d | %s |\n", code, exit.Meanings[code])
	}
	b.WriteString("\n## " + commonFlags + "\n\n")
	for _, g := range flagGroups(root) {
		b.WriteString(flagTable(g.flags, keys))
	}
	for _, cmd := range root.Commands() {
		writeCommand(&b, cmd, keys)
	}
	heldTo(t, "../../docs/cli.md", b.String())
}

// writeCommand writes the sections of a command and of its commands.
func writeCommand(b *strings.Builder, cmd *cobra.Command, keys map[*pflag.Flag]settings.Key) {
	fmt.Fprintf(b, "\n## %s\n\n```\n%s\n```\n\n%s\n", cmd.CommandPath(), terminal.UsageLine(cmd),
		markdown(terminal.Wrap(terminal.About(cmd), 118)))
	if cmd.HasExample() {
		fmt.Fprintf(b, "\n```sh\n%s\n```\n", strings.ReplaceAll(strings.TrimPrefix(cmd.Example, "  "), "\n  ", "\n"))
	}
	for _, g := range flagGroups(cmd) {
		if g.title != commonFlags {
			fmt.Fprintf(b, "\n%s:\n\n%s", g.title, flagTable(g.flags, keys))
		}
	}
	for _, sub := range cmd.Commands() {
		writeCommand(b, sub, keys)
	}
}

// markdown puts indented paragraphs between fences, and escapes what Markdown would take for markup in the others.
func markdown(text string) string {
	paragraphs := strings.Split(text, "\n\n")
	for i, p := range paragraphs {
		if strings.HasPrefix(p, "  ") {
			paragraphs[i] = "```\n" + p + "\n```"
		} else {
			paragraphs[i] = strings.NewReplacer("*", `\*`, "_", `\_`).Replace(p)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

var defaultNote = regexp.MustCompile(`[;,]? \(default:? ([^()]*)\)`)

// flagTable leaves out the columns that no flag fills.
func flagTable(flags *pflag.FlagSet, keys map[*pflag.Flag]settings.Key) string {
	var rows strings.Builder
	configurable := false
	flags.VisitAll(func(f *pflag.Flag) { configurable = configurable || keys[f].Flag != nil })
	flags.VisitAll(func(f *pflag.Flag) {
		value, meaning := pflag.UnquoteUsage(f)
		name := "`--" + strings.TrimSpace(f.Name+" "+value) + "`"
		if f.Shorthand != "" {
			name = "`-" + f.Shorthand + "`, " + name
		}
		standard := ""
		if note := defaultNote.FindStringSubmatch(meaning); note != nil {
			meaning, standard = strings.Replace(meaning, note[0], "", 1), note[1]
		} else if v := f.DefValue; v != "" && v != "false" && v != "0" && v != "0s" && v != "[]" {
			standard = "`" + v + "`"
		}
		cells := []string{name, meaning, standard}
		if k := keys[f]; configurable && k.Flag != nil {
			may, _ := k.Project()
			cells = append(cells, "`"+strings.Join(k.Variables(), "`, `")+"`", "`"+k.Name+"`"+map[bool]string{true: ", project"}[may])
		} else if configurable {
			cells = append(cells, "", "")
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(cells[i], "|", `\|`)
		}
		fmt.Fprintf(&rows, "| %s |\n", strings.Join(cells, " | "))
	})
	header := "| flag | meaning | default |\n|---|---|---|\n"
	if configurable {
		header = "| flag | meaning | default | environment | key |\n|---|---|---|---|---|\n"
	}
	return header + rows.String()
}

// The page of generate shows what it prints of this repository; make update prints it again. Numbers may differ.
func TestGenerateSample(t *testing.T) {
	out := t.TempDir()
	cmd := binary(t, t.TempDir(), "generate", mustAbs(t, "../.."), "--out", out)
	printed, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	files, err := filepath.Glob(filepath.Join(out, "*", "*", "llms.txt"))
	if more, _ := filepath.Glob(filepath.Join(out, "*", "*", "*", "llms.txt")); len(more) > 0 {
		files = more
	}
	if err != nil || len(files) != 1 {
		t.Fatalf("%v: %v", files, err)
	}
	text := strings.ReplaceAll(string(printed), filepath.Dir(files[0]), "artifacts/github.com/seed889630bf/lastword")
	page, err := os.ReadFile("../../docs/generate.md")
	must(t, err)
	want := between(t, string(page), "run", sampleOf(text))
	if *update {
		put(t, "../../docs/generate.md", want)
	} else if masked(want) != masked(string(page)) {
		t.Errorf("generate prints something else than docs/generate.md shows; make update prints it again\n%s", sampleOf(text))
	}
}

// sampleOf leaves most lines of the run out, and the ends of long lines.
func sampleOf(printed string) string {
	var b strings.Builder
	b.WriteString("```\n$ lastword generate .\n")
	run, card, _ := strings.Cut(printed, "\n\n")
	for line := range strings.Lines(run + "\n") {
		for _, told := range []string{"run.started", "fetch completed", "analyze completed", "llms.txt written", "run.completed"} {
			if told == "run.completed" && strings.Contains(line, told) {
				b.WriteString("  ...\n")
			}
			if strings.Contains(line, told) {
				b.WriteString(line)
			}
		}
	}
	b.WriteString("\n")
	for line := range strings.Lines(card) {
		if most := 116; len(line) > most {
			line = line[:most] + " ...\n"
		}
		b.WriteString(line)
	}
	b.WriteString("```\n")
	return b.String()
}

var (
	numbers = regexp.MustCompile(` at [0-9a-f]{12}| *\d[\d.,]*`)
	spaces  = regexp.MustCompile(` +`)
)

// masked leaves out what differs from commit to commit, and from machine to machine: numbers, and which of the files that
// are written side by side came first.
func masked(text string) string {
	lines := strings.Split(spaces.ReplaceAllString(numbers.ReplaceAllString(text, ""), " "), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	must(t, err)
	return abs
}

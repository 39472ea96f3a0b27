package manifest

import (
	"regexp"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
)

func readPyproject(f *file, text string) error {
	t, err := f.tree(parseTOML, text)
	for _, place := range []string{"project/scripts", "project/gui-scripts", "tool/poetry/scripts"} {
		for _, scripts := range t.objects(place) {
			for _, m := range scripts {
				target, _ := m.value.(string)
				f.pythonScript(m.key + "=" + target)
			}
		}
	}
	return err
}

var pythonTarget = regexp.MustCompile(`^\s*([^=\s]+)\s*=\s*([\w.]*)`)

// pythonScript adds "name = package.module:function".
func (f *file) pythonScript(l string) {
	m := pythonTarget.FindStringSubmatch(l)
	if m == nil {
		return
	}
	f.command(m[1])
	if m[2] != "" {
		f.entry(strings.ReplaceAll(m[2], ".", "/") + ".py")
	}
}

func readSetupCfg(f *file, text string) error {
	o, err := f.tree(parseLines, text)
	if strings.Contains(f.Version, ":") {
		f.Version = "" // "attr: package.version" or "file: VERSION"
	}
	for l := range strings.Lines(o.text("metadata/project_urls")) {
		key, url, _ := strings.Cut(l, "=")
		if prose.ContainsAny(strings.ToLower(key), "source", "repository") {
			f.Repository = strings.TrimSpace(url)
		}
	}
	for l := range strings.Lines(o.text("options.entry_points/console_scripts")) {
		f.pythonScript(l)
	}
	return err
}

// readSetupPy reads the keyword arguments of the last setup call, if they are literals or names that the file sets to
// a literal.
func readSetupPy(f *file, text string) error {
	toks := lex(text, syntax{line: []string{"#"}, triple: true, quotes: `"'`})
	var call tokens
	for i := range toks {
		if toks.has(i, "setup", "(") {
			call = toks[i:]
		}
	}
	args := call.group(1).arguments("=")
	f.fill(func(key string) string {
		if list := args[key]; len(list) == 1 && list[0].kind == word {
			return literalAfter(toks, list[0].text, "=")
		}
		return args[key].joined()
	})
	for _, d := range args["install_requires"].strs() {
		f.Dependencies = append(f.Dependencies, firstWord(d))
	}
	for _, point := range args["entry_points"].strs() {
		if !strings.Contains(point, "\n") {
			f.pythonScript(point)
		}
	}
	for _, module := range args["py_modules"].strs() {
		f.entry(module + ".py")
	}
	return nil
}

package lab_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestPage is make page: node --test drives Chromium, which uses the page of servers that the cases start, kill and
// start again. LASTWORD_PAGE is a pattern of the cases' names.
func TestPage(t *testing.T) {
	cases := os.Getenv("LASTWORD_PAGE")
	if cases == "" {
		t.Skip("make page runs this")
	}
	dir := npmInstall(t, "page")
	source, err := filepath.Abs(filepath.Join(root, "transport", "web", "page"))
	must(t, err)
	t.Run("types", func(t *testing.T) { checkTypes(t, dir, source) })
	tests, err := filepath.Glob(filepath.Join("testdata", "page", "npm", "*.test.mjs"))
	must(t, err)
	args := []string{"--test", "--test-concurrency=1", "--test-reporter=spec", "--test-name-pattern=" + cases}
	for _, file := range tests {
		args = append(args, filepath.Base(file))
	}
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stdout, os.Stderr
	shots := t.TempDir()
	if cases == "pictures" { // they show the time of day: other runs leave those that were looked at
		shots, err = filepath.Abs(filepath.Join(root, "docs", "page"))
		must(t, err)
	}
	self, err := os.Executable()
	must(t, err)
	card, err := filepath.Abs(filepath.Join(root, "transport", "mcp", "card", "run.html"))
	must(t, err)
	cmd.Env = append(os.Environ(), "CARD="+card, "SERVER="+self, "SERVER_SETUP="+pageServer, "SHOTS="+shots)
	must(t, cmd.Run())
}

// checkTypes has TypeScript's compiler check the page's source: esbuild ignores types.
func checkTypes(t *testing.T, dir, source string) {
	modules := filepath.Join(dir, "node_modules")
	config, err := json.Marshal(map[string]any{
		"extends": filepath.Join(source, "tsconfig.json"),
		"include": []string{filepath.Join(source, "**", "*.ts"), filepath.Join(source, "**", "*.tsx")},
		"compilerOptions": map[string]any{"paths": map[string][]string{
			"preact":             {filepath.Join(modules, "preact", "src", "index.d.ts")},
			"preact/hooks":       {filepath.Join(modules, "preact", "hooks", "src", "index.d.ts")},
			"preact/jsx-runtime": {filepath.Join(modules, "preact", "jsx-runtime", "src", "index.d.ts")},
			"@preact/*":          {filepath.Join(modules, "@preact", "*")},
			"marked":             {filepath.Join(modules, "marked")},
		}},
	})
	must(t, err)
	file := filepath.Join(dir, "tsconfig.json")
	writeFile(t, file, config)
	out, err := exec.CommandContext(t.Context(), filepath.Join(modules, ".bin", "tsc"), "-p", file).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

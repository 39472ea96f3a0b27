package rank

import (
	"path"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/code"
)

// asideOf says why a source is nothing for readers of the product.
func (j *sourceJudge) asideOf(s *source, text string) string {
	stem := stemOf(s.Path)
	switch {
	case code.IsTest(s.file.Language, text):
		return "a test, by its imports"
	case j.isVariant(s.Path):
		return "another build of a listed file"
	case s.entry == "" && j.isBuilt(s.Path):
		return "built from a source file next to it"
	case s.entry == "" && isBuildScript(s.Path):
		return "builds the product, but is not part of it"
	case stem == "package-info" || stem == "module-info" || stem == "assemblyinfo":
		return "describes one package only"
	}
	return ""
}

func isBuildScript(p string) bool {
	switch base := strings.ToLower(path.Base(p)); base {
	case "setup.py", "conf.py", "build.rs", "gulpfile.js", "gruntfile.js", "noxfile.py", "fabfile.py", "tasks.py",
		"rakefile", "build.py", "manage.py", "extconf.rb", "build.zig", "package.swift", "mix.exs", "build.sbt",
		"configure.py", "phpstan.php":
		return true
	default:
		return strings.Contains(base, ".config.") || strings.HasPrefix(base, ".") ||
			strings.HasSuffix(base, ".gradle.kts")
	}
}

// isVariant finds the file of the same name without a folder for one module system: dist/cjs/x.js beside dist/x.js.
func (j *sourceJudge) isVariant(p string) bool {
	parts := strings.Split(p, "/")
	for i, part := range parts[:len(parts)-1] {
		if part == "cjs" || part == "umd" || part == "commonjs" || part == "es5" {
			for _, instead := range []string{"", "esm/", "es/"} {
				if j.byPath[strings.TrimPrefix(strings.Join(parts[:i], "/")+"/", "/")+instead+strings.Join(parts[i+1:],
					"/")] != nil {
					return true
				}
			}
		}
	}
	ext := path.Ext(p)
	stem := strings.TrimSuffix(p, ext)
	return (ext == ".cjs" || ext == ".cts") && (j.byPath[stem+".js"] != nil || j.byPath[stem+".mjs"] != nil ||
		j.byPath[stem+".ts"] != nil)
}

// isBuilt finds the TypeScript that a script was compiled from: the end of its path is the same.
func (j *sourceJudge) isBuilt(p string) bool {
	ext := path.Ext(p)
	if ext == ".ts" || ext == ".cts" || ext == ".mts" {
		if !strings.HasSuffix(strings.TrimSuffix(p, ext), ".d") {
			return false
		}
	} else if ext != ".js" && ext != ".cjs" && ext != ".mjs" {
		return false
	}
	stem := strings.TrimSuffix(strings.TrimSuffix(p, ext), ".d")
	_, below, _ := strings.Cut(stem, "/")
	for _, s := range []string{stem, "src/" + stem, "src/" + below, "source/" + below, "lib/" + below} {
		for _, e := range []string{".ts", ".tsx", ".mts"} {
			if f := j.byPath[s+e]; f != nil && s+e != p && !strings.HasSuffix(s, ".d") &&
				strings.TrimSuffix(s, "/") == s {
				return true
			}
		}
	}
	return false
}

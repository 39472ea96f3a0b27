package rank

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/seed889630bf/lastword/actors/llmstxt/rank/words"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/prose"
	"github.com/seed889630bf/lastword/actors/llmstxt/repository/scan"
)

var (
	foldersAround, wordsAround   = words.Of("folders around"), words.Of("words around")
	foreignPlaces, privatePlaces = words.Of("foreign places"), words.Of("private places")
	buildScripts, helpers        = words.Of("build scripts"), words.Of("helpers")
	collections                  = words.Of("collections")
	platforms                    = words.Of("ends of platforms")
	wording                      = words.Of("wording")
)

// foldersOf gives those above a file that say what it is for, in small letters: not the packages below a source root.
func foldersOf(p string) []string {
	dir := path.Dir(p)
	return strings.Split(strings.ToLower(cmp.Or(scan.SourceRoot(dir), dir)), "/")
}

// isSetAside holds below folders that tools pass over, that measure, or that hold what others have made.
func isSetAside(p string) bool {
	return prose.ContainsAny("/"+p, "/inst/doc/", "/man/rmd/") || // of R: made from the vignettes, and parts of its help
		slices.ContainsFunc(foldersOf(p), func(part string) bool {
			return len(part) > 1 && part[0] == '_' && !collections.Has(part) || foreignPlaces.Has(part) ||
				prose.ContainsAny(part, "benchmark", "template-") || strings.HasSuffix(part, "_template")
		})
}

func isPrivatePlace(p string) bool {
	return slices.ContainsFunc(strings.Split(strings.ToLower(path.Dir(p)), "/"), privatePlaces.Has)
}

func isInternal(p string) bool { return strings.Contains("/"+p, "/internal/") }

// isAround holds for what builds and tests the product, by the top folder or a word in the name of one.
func isAround(p string) bool {
	top, _, below := strings.Cut(strings.ToLower(p), "/")
	return below && foldersAround.Has(top) || slices.ContainsFunc(foldersOf(p), func(part string) bool {
		parts := strings.FieldsFunc(part, func(r rune) bool { return strings.ContainsRune("-_.", r) })
		return prose.EndsWithAny(part, "tests", "testapp") || !wordsAround.Has(part) &&
			slices.ContainsFunc(parts, wordsAround.Has)
	})
}

func isHelper(stem string) bool {
	return helpers.Has(stem) || prose.StartsWithAny(stem, "compat-", "compat_", "functions_")
}

// isWording holds for messages in the languages of people.
func isWording(p string) bool { return slices.ContainsFunc(foldersOf(p), wording.Has) }

func isBuildScript(p string) bool {
	base := strings.ToLower(path.Base(p))
	return buildScripts.Has(base) || strings.Contains(base, ".config.") || strings.HasPrefix(base, ".") ||
		strings.HasSuffix(base, ".gradle.kts")
}

// isOnePlatform holds for a source, or a set of sources, for one platform of several: tty_windows.go, src/mingwX64Main.
func isOnePlatform(p string) bool {
	if path.Ext(p) == ".go" && platforms.End(stemOf(p)) {
		return true
	}
	_, set, ok := strings.Cut(scan.SourceRoot(path.Dir(p)), "/src/")
	set, _, _ = strings.Cut(set, "/")
	return ok && strings.HasSuffix(set, "Main") && set != "commonMain" && set != "jvmMain"
}

var versionFolder = regexp.MustCompile(`(^|/)v[0-8]/`)

// isOlder holds below a folder v3 where there is a v4 beside it.
func (v *survey) isOlder(p string) bool {
	at := versionFolder.FindStringIndex(p)
	if at == nil {
		return false
	}
	above, version, below := p[:at[1]-2], p[at[1]-2], p[at[1]:]
	for n := version + 1; n <= '9'; n++ {
		for _, tail := range []string{"index.ts", "index.js", below} {
			if v.byPath[above+string(rune(n))+"/"+tail] != nil {
				return true
			}
		}
	}
	return false
}

// isBuilt finds the TypeScript that a script was compiled from: the end of its path is the same.
func (v *survey) isBuilt(p string) bool {
	stem, declares := strings.CutSuffix(strings.TrimSuffix(p, path.Ext(p)), ".d")
	if ext := path.Ext(p); !declares && ext != ".js" && ext != ".cjs" && ext != ".mjs" {
		return false
	}
	_, below, _ := strings.Cut(stem, "/")
	for _, dir := range []string{stem, "src/" + stem, "src/" + below, "source/" + below, "lib/" + below} {
		if v.byPath[dir+".ts"] != nil || v.byPath[dir+".tsx"] != nil || v.byPath[dir+".mts"] != nil {
			return true
		}
	}
	return false
}

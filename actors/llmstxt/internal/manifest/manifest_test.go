package manifest_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/manifest"
	"github.com/seed889630bf/lastword/internal/fatal"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden reads every manifest of testdata/*.txtar; what is to come out stands in the .golden file beside it.
func TestGolden(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no testdata", err)
	}
	for _, name := range archives {
		t.Run(filepath.Base(name), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			fatal.IfError(t, err)
			var got bytes.Buffer
			for _, f := range archive.Files {
				m, err := manifest.Parse(f.Name, f.Data)
				print(&got, m, err)
			}
			golden := strings.TrimSuffix(name, ".txtar") + ".golden"
			if *update {
				fatal.IfError(t, os.WriteFile(golden, got.Bytes(), 0o644))
			}
			want, err := os.ReadFile(golden)
			fatal.IfError(t, err)
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("got\n%s\nwant\n%s", got.Bytes(), want)
			}
		})
	}
}

// print writes the fields that are set, one to a line.
func print(b *bytes.Buffer, m manifest.Manifest, err error) {
	v := reflect.ValueOf(m)
	for i := range v.NumField() {
		f := v.Field(i)
		switch {
		case f.IsZero():
		case i == 0:
			fmt.Fprintf(b, "%v\n", f)
		case f.Kind() == reflect.Slice:
			fmt.Fprintf(b, "  %s: %v\n", v.Type().Field(i).Name, strings.Trim(fmt.Sprintf("%q", f.Interface()), "[]"))
		default:
			fmt.Fprintf(b, "  %s: %v\n", v.Type().Field(i).Name, f)
		}
	}
	if err != nil {
		b.WriteString("  error\n")
	}
}

func TestRepositorySpellings(t *testing.T) {
	for spelled, want := range map[string]string{
		"acme/x":                                "https://github.com/acme/x",
		"github:acme/x":                         "https://github.com/acme/x",
		"gitlab:acme/sub/x":                     "https://gitlab.com/acme/sub/x",
		"bitbucket:acme/x":                      "https://bitbucket.org/acme/x",
		"git+ssh://git@github.com/acme/x.git":   "https://github.com/acme/x",
		"git@github.com:acme/x.git":             "https://github.com/acme/x",
		"git://github.com/acme/x.git":           "https://github.com/acme/x",
		"http://github.com/acme/x#readme":       "https://github.com/acme/x",
		"https://me:pw@git.acme.example/a/x":    "https://git.acme.example/a/x",
		"https://github.com/acme/x/tree/v1/p/q": "https://github.com/acme/x p/q",
		"github.com/acme/x":                     "https://github.com/acme/x",
		"me:pw@nowhere":                         "",
		"ftp://acme.example/x":                  "",
		"":                                      "",
	} {
		m, err := manifest.Parse("package.json", fmt.Appendf(nil, `{"name":"x","repository":%q}`, spelled))
		if got := strings.TrimSpace(m.Repository + " " + m.Directory); err != nil || got != want {
			t.Errorf("%s gives %q, %v; want %q", spelled, got, err, want)
		}
	}
}

func TestEverythingIsBounded(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n"
	for c := 'c'; c < 'p'; c++ {
		bomb += strings.ReplaceAll("N: &N [*P,*P,*P,*P,*P,*P,*P,*P,*P]\n", "N", string(c))
		bomb = strings.ReplaceAll(bomb, "P", string(c-1))
	}
	var keys strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&keys, "k%d = 1\n", i)
	}
	for name, text := range map[string]string{
		"pubspec.yaml":   bomb + "name: x\ndependencies: *o\n",
		"Cargo.toml":     "a = " + strings.Repeat("[", 100_000),
		"Project.toml":   "[deps]\n" + keys.String(),
		"package.json":   strings.Repeat(`{"a":`, 100_000),
		"package.yaml":   strings.Repeat("[", 100_000),
		"pom.xml":        strings.Repeat("<a>", 100_000),
		"composer.json":  `{"name":"` + strings.Repeat("x", 3<<20),
		"CMakeLists.txt": "project(" + strings.Repeat("(", 300_000),
		"setup.py":       "setup(" + strings.Repeat("a=1,", 200_000) + ")",
		"a/setup.py":     strings.Repeat("setup(", 150_000),
		"b/setup.py":     "setup(" + strings.Repeat("\"\\", 150_000),
		"Package.swift":  strings.Repeat("a(", 200_000),
		"mix.exs":        strings.Repeat("{:a,", 200_000),
		"x.cabal":        "name: a\n" + strings.Repeat("  b\n", 200_000),
	} {
		m, _ := manifest.Parse(name, []byte(text))
		checkBounds(t, m)
	}
}

func TestUnknownNames(t *testing.T) {
	for _, name := range []string{"", "x", "package.json.bak", "a/go.mod.txt", "package-lock.json"} {
		if _, err := manifest.Parse(name, nil); err == nil || manifest.Known(name) {
			t.Errorf("%q is taken for a manifest", name)
		}
	}
}

func checkBounds(t *testing.T, m manifest.Manifest) {
	t.Helper()
	v := reflect.ValueOf(m)
	for i := 1; i < v.NumField(); i++ {
		text := fmt.Sprint(v.Field(i).Interface())
		list := v.Field(i).Kind() == reflect.Slice
		split := strings.Contains(text, "\n") && !strings.Contains(m.Path, "\n") // entries are below the file's folder
		if list && v.Field(i).Len() > 300 || len(text) > 300*4*1300 || split {
			t.Errorf("%s: %s has %d bytes", m.Path, v.Type().Field(i).Name, len(text))
		}
	}
	for _, e := range m.Entries {
		if strings.HasPrefix(e, "/") || strings.HasPrefix(e, "../") || e == ".." {
			t.Errorf("%s: entry %q leaves the material", m.Path, e)
		}
	}
}

func FuzzParse(f *testing.F) {
	archives, _ := filepath.Glob("testdata/*.txtar")
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		fatal.IfError(f, err)
		for _, file := range archive.Files {
			f.Add(file.Name, string(file.Data))
		}
	}
	f.Add("a\nb/package.json", `{"main":"index"}`)
	f.Fuzz(func(t *testing.T, name, text string) {
		m, err := manifest.Parse(name, []byte(text))
		if !manifest.Known(name) && err == nil {
			t.Errorf("%q is unknown, but read", name)
		}
		checkBounds(t, m)
	})
}

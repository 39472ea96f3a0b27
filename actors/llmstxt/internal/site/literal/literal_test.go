package literal_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/site/literal"
)

// shown writes a value in the notation of JSON, and what is unknown as name(arguments).
func shown(v any) string {
	var parts []string
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("%q", v)
	case []any:
		for _, x := range v {
			parts = append(parts, shown(x))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case *literal.Object:
		for k, x := range v.All() {
			parts = append(parts, k+": "+shown(x))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case literal.Unknown:
		for _, x := range v.Args {
			parts = append(parts, shown(x))
		}
		return v.Name + "(" + strings.Join(parts, ", ") + ")"
	}
	return fmt.Sprint(v)
}

// The file testdata/read.txtar has an archive of modules for each case: a.ts is read, and want is what it says.
func TestRead(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/read.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var name string
	files := map[string]string{}
	for _, f := range archive.Files {
		base, rest, _ := strings.Cut(f.Name, "/")
		if base != name {
			name, files = base, map[string]string{}
		}
		if rest != "want" {
			files[rest] = string(f.Data)
			continue
		}
		got := shown(literal.Read("a.ts", func(file string) string { return files[file] }))
		if want := strings.TrimSpace(string(f.Data)); got != want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want)
		}
	}
}

// Hostile programs end soon, and their values are small.
func TestBounds(t *testing.T) {
	double := strings.Repeat("f(", 90) + "'x'" + strings.Repeat(")", 90)
	for name, text := range map[string]string{
		"deep lists":     "export default " + strings.Repeat("[", 10_000),
		"deep brackets":  "export default " + strings.Repeat("(", 10_000),
		"signs":          "export default " + strings.Repeat("!", 10_000),
		"arrows":         "export default " + strings.Repeat("a=>", 6_000),
		"conditions":     "export default " + strings.Repeat("a?", 6_000),
		"templates":      "export default " + strings.Repeat("`${", 6_000),
		"quotes":         "export default " + strings.Repeat(`"\`, 6_000),
		"expressions":    "export default " + strings.Repeat("=/[", 4_000),
		"itself":         "const a = [a, a]; export default a",
		"recursion":      "const f = x => f([x, x]); export default f(1)",
		"imports itself": "import a from './a'; export default [a, a]",
		"exports itself": "export {default} from './a'",
		"double text":    "const f = x => x + x; export default " + double,
		"double list":    "const f = x => [...x, ...x]; export default " + strings.Replace(double, "'x'", "[1]", 1),
		"double concat":  "const f = x => x.concat(x, x); export default " + strings.Replace(double, "'x'", "[1]", 1),
		"shared":         "const f = x => [x, x]; export default " + double,
		"names":          "const a0 = 'x';" + chain(60) + "export default a59",
		"long sum":       "const s = '" + strings.Repeat("x", 1000) + "'; export default s" + strings.Repeat("+s", 5_000),
		"types":          "export default [" + strings.Repeat("a as b<", 4_000),
	} {
		if size := len(shown(literal.Read("a.ts", func(string) string { return text }))); size > 8_000_000 {
			t.Errorf("%s: %d bytes", name, size)
		}
	}
}

func chain(n int) string {
	var b strings.Builder
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "const a%d = a%d + a%d;", i, i-1, i-1)
	}
	return b.String()
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"export default {a: [1, 'x', `y${z}`], ...b, c() { return 1 }}",
		"import a, {b as c} from './a'; const {d, e: f} = c; module.exports = defineConfig(async ({x}: T = 1): P<R> => ({d: x!.y?.[0]}))",
		"export {a as default} from './b'; function f<T>(x?: T) { const y = x; return [y].map((z, i) => z / i) } /* `${",
		"export default x as const satisfies y ? /[/]/g : new URL('a', import.meta.url)",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, text string) { literal.Read("a.ts", func(string) string { return text }) })
}

package decode_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/internal/decode"
	"github.com/seed889630bf/lastword/internal/fatal"
	"pgregory.net/rapid"
)

// streamed is what a Fields gave.
type streamed struct {
	texts map[string]string
	doc   string
	err   error
}

func (s streamed) String() string { return fmt.Sprintf("%q %s %v", s.texts, s.doc, s.err) }

func stream(t testing.TB, names []string, pieces ...string) streamed {
	got := streamed{texts: map[string]string{}}
	fields := decode.NewFields(names...)
	last := ""
	for _, piece := range pieces {
		fields.Push(piece, func(path, text string) {
			if text == "" || !utf8.ValidString(text) {
				t.Errorf("%q at %s of %q", text, path, pieces)
			}
			if _, known := got.texts[path]; known && path != last {
				t.Errorf("%s goes on after %s in %q", path, last, pieces)
			}
			last = path
			got.texts[path] += text
		})
	}
	doc, err := fields.Close()
	got.doc, got.err = string(doc), err
	return got
}

func TestFields(t *testing.T) {
	type row struct {
		in, texts, doc string
		err            error
	}
	cases := []row{ // these have bytes that a text file has not
		{` { "a" : [ 1 , {"r":"decoy"} ] , "r" : "h\u0069\n" } `, "r=hi\n", `{ "a" : [ 1 , {"r":"decoy"} ] , "r" : "h\u0069\n" }`, nil},
		{"Sure, {here} it is:\n```json\n{\"r\":\"hi\"}\n```\nBye {", "r=hi", `{"r":"hi"}`, nil},
		{"", "", "", decode.ErrNoObject},
		{"{\"r\":\"a\nb\tc\",\"x\":[1,2,],}", "r=a\nb\tc", `{"r":"a\u000ab\u0009c","x":[1,2 ] }`, nil},
		{"{\"r\":\"\\\n\"}", "r=\\\n", `{"r":"\\\u000a"}`, nil},
		{"{\"r\":\"a\xf0\x9f\x8e", "r=a", `{"r":"a"}`, decode.ErrTruncated},
	}
	errs := map[string]error{"no object": decode.ErrNoObject, "duplicate": decode.ErrDuplicate, "syntax": decode.ErrSyntax, "truncated": decode.ErrTruncated}
	for _, r := range fatal.Rows(t, "testdata/fields.txt") {
		cases = append(cases, row{r[0], r[1], r[2], errs[r[3]]})
	}
	for _, row := range cases {
		for _, pieces := range [][]string{{row.in}, bytes1(row.in), cuts(row.in, []byte{2, 1, 4})} {
			got := stream(t, []string{"r", "s.t.1"}, pieces...)
			var texts []string
			for _, path := range slices.Sorted(maps.Keys(got.texts)) {
				texts = append(texts, path+"="+got.texts[path])
			}
			if strings.Join(texts, " ") != row.texts || got.doc != row.doc || !errors.Is(got.err, row.err) {
				t.Errorf("%q:\n got %v\nwant %s %s %v", pieces, got, row.texts, row.doc, row.err)
			}
		}
	}
}

// A model's words reach the reader before the object is complete, each with the piece that brings it.
func TestFieldAsItComes(t *testing.T) {
	fields := decode.NewFields("response")
	for _, step := range [][2]string{
		{"```json\n{\"resp", ""}, {`onse": "He`, "He"}, {`l`, "l"}, {`lo \`, "lo "}, {`u00e9\ud83c`, "é"}, {`\udf89`, "🎉"},
		{`!", "rest": ["x"`, "!"}, {`]}`, ""}, {"\n```", ""},
	} {
		got := ""
		if fields.Push(step[0], func(_, piece string) { got += piece }); got != step[1] {
			t.Errorf("%s gives %q, want %q", step[0], got, step[1])
		}
	}
	doc, err := fields.Close()
	if err != nil || !json.Valid(doc) {
		t.Errorf("%s, %v", doc, err)
	}
}

// Without names the first object is taken.
func TestFieldsWithoutNames(t *testing.T) {
	if got := stream(t, nil, `x {"a":"b"} {"c":"d"`); got.doc != `{"a":"b"}` || got.err != nil || len(got.texts) > 0 {
		t.Error(got)
	}
}

// encoding/json has the same depth.
func TestFieldsDepth(t *testing.T) {
	for _, n := range []int{9999, 10000} {
		in := `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}"
		got := stream(t, []string{"a"}, in)
		if json.Valid([]byte(in)) != (got.err == nil) {
			t.Errorf("%d lists: %v", n, got.err)
		}
	}
}

// strs are the strings of a value, by path: what Fields must stream of a name, found in the whole by encoding/json.
func strs(path string, v any, texts map[string]string) {
	switch v := v.(type) {
	case string:
		if v != "" {
			texts[path] = v
		}
	case []any:
		for i, e := range v {
			strs(fmt.Sprintf("%s.%d", path, i), e, texts)
		}
	case map[string]any:
		for k, e := range v {
			strs(path+"."+k, e, texts)
		}
	}
}

func wanted(t testing.TB, doc string, names []string) map[string]string {
	var v map[string]any
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Errorf("%s: %v", doc, err)
	}
	texts := map[string]string{}
	for _, name := range names {
		strs(name, v[name], texts)
	}
	return texts
}

// docs draws JSON objects as models write them: any order, white space, escapes and decoys.
type docs struct{ t *rapid.T }

func (d docs) space() string {
	return rapid.SampledFrom([]string{"", "", " ", "\n  ", "\t"}).Draw(d.t, "space")
}

func (d docs) str() string {
	atoms := []string{"a", "word ", `\n`, `\"`, `\\`, "é", "🎉", `\u00e9`, `\ud83c\udf89`, `\ud83c`, `\/`, "{", "},", `:`, "<think>", "```"}
	return `"` + strings.Join(rapid.SliceOfN(rapid.SampledFrom(atoms), 0, 8).Draw(d.t, "atoms"), "") + `"`
}

func (d docs) value(depth int) string {
	kind := rapid.IntRange(0, 7).Draw(d.t, "kind")
	switch {
	case kind == 0:
		return rapid.SampledFrom([]string{"0", "-1.5e+3", "12", "true", "false", "null"}).Draw(d.t, "word")
	case kind == 1 && depth > 0:
		return d.object(depth - 1)
	case kind == 2 && depth > 0:
		var elements []string
		for range rapid.IntRange(0, 3).Draw(d.t, "elements") {
			elements = append(elements, d.space()+d.value(depth-1)+d.space())
		}
		return "[" + d.space() + strings.Join(elements, ",") + "]"
	}
	return d.str()
}

func (d docs) object(depth int) string {
	names := []string{"r", "notes", "a", "b,c", "d:\"}", "é"}
	written := map[string][]string{"r": {`"r"`, `"\u0072"`}, "é": {`"é"`, `"\u00e9"`}, "d:\"}": {`"d:\"}"`}}
	keys := rapid.SliceOfNDistinct(rapid.SampledFrom(names), 0, 5, rapid.ID).Draw(d.t, "keys")
	var members []string
	for _, key := range keys {
		forms := written[key]
		if forms == nil {
			forms = []string{`"` + key + `"`}
		}
		form := rapid.SampledFrom(forms).Draw(d.t, "form")
		members = append(members, d.space()+form+d.space()+":"+d.space()+d.value(depth)+d.space())
	}
	return "{" + d.space() + strings.Join(members, ",") + "}"
}

var names = []string{"r", "notes"}

// P1 and P4: under any division, and with anything around it, what is streamed is what encoding/json reads, and the
// document is what came.
func TestFieldsAgree(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		doc := docs{rt}.object(3)
		around := rapid.SampledFrom([][2]string{
			{"", ""}, {"Here: ", " done"}, {"```json\n", "\n```"}, {`<think>{"r":"no"}</think>`, ""}, {`{"r"} `, ` {"r":"no"}`},
		}).Draw(rt, "around")
		in := around[0] + doc + around[1]
		want := wanted(t, doc, names)
		var keys map[string]any
		if json.Unmarshal([]byte(doc), &keys); keys["r"] == nil && keys["notes"] == nil {
			in = around[0] + doc
		}
		for _, pieces := range [][]string{{in}, bytes1(in), cuts(in, rapid.SliceOf(rapid.Byte()).Draw(rt, "lengths"))} {
			got := stream(t, names, pieces...)
			if got.err != nil || got.doc != doc || !maps.Equal(got.texts, want) {
				rt.Fatalf("%q:\n got %v\nwant %q %s", pieces, got, want, doc)
			}
		}
	})
}

// P2: wherever the object is cut, it can be closed, and what was streamed is what the closed one says: the beginning
// of what the whole one says.
func TestFieldsCut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		doc := docs{rt}.object(3)
		whole := wanted(t, doc, names)
		for n := 1; n < len(doc); n++ {
			got := stream(t, names, cuts(doc[:n], []byte{3, 0, 6})...)
			if !errors.Is(got.err, decode.ErrTruncated) || !json.Valid([]byte(got.doc)) {
				rt.Fatalf("%s: %v", doc[:n], got)
			}
			if said := wanted(t, got.doc, names); !maps.Equal(got.texts, said) {
				rt.Fatalf("%s: %v, but the document says %q", doc[:n], got, said)
			}
			for path, text := range got.texts {
				if !strings.HasPrefix(whole[path], text) {
					rt.Fatalf("%s: %s is %q, in the end %q", doc[:n], path, text, whole[path])
				}
			}
		}
	})
}

// P3: where encoding/json reads an object, Fields reads the same; where it does not, Fields invents nothing: a
// document given as valid is, and the streamed texts are its own.
func FuzzFields(f *testing.F) {
	for _, seed := range []string{
		`{"r":"a"}`, `{"notes":["a",{"b":"c"}],"r":"\ud83c\udf89\n"}`, `{"r":"a`, `{"r":"He "said"`, `{"r":"a","r":"b"}`,
		`{"r":tru`, `{"r":"a",}`, "{\"r\":\"a\nb\"}", "x {\"r\":\"\\d\xf0\x9f\"}", `{"a":1}{"r":"b"}`, `<think>{"r":"b"}`,
		`{"a.b":"c","r":{"x":"y","x.z":"w"}}`, `{"r":-}`, "<think {\"r\":\"\n<<{",
	} {
		f.Add(seed, []byte{1, 5})
	}
	f.Fuzz(func(t *testing.T, in string, lengths []byte) {
		got := stream(t, names, in)
		for _, pieces := range [][]string{bytes1(in), cuts(in, lengths)} {
			if again := stream(t, names, pieces...); again.String() != got.String() {
				t.Fatalf("%q:\n got %v\nwhole %v", pieces, again, got)
			}
		}
		isObject := strings.HasPrefix(in, "{") && json.Valid([]byte(in))
		if isObject && got.err != nil && !errors.Is(got.err, decode.ErrDuplicate) {
			t.Fatalf("%q: %v", in, got)
		}
		if isObject && got.doc != string(bytes.TrimSpace([]byte(in))) {
			t.Fatalf("%q: the document is %q", in, got.doc)
		}
		if errors.Is(got.err, decode.ErrSyntax) || errors.Is(got.err, decode.ErrNoObject) {
			return
		}
		if !json.Valid([]byte(got.doc)) {
			t.Fatalf("%q: %v", in, got)
		}
		if got.err == nil && !dotted(got.doc) {
			if want := wanted(t, got.doc, names); !maps.Equal(got.texts, want) {
				t.Fatalf("%q: %v, but the document says %q", in, got, want)
			}
		}
	})
}

// dotted says whether a document has names with dots, which can make two paths one.
func dotted(doc string) bool {
	d := json.NewDecoder(strings.NewReader(doc))
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if s, ok := token.(string); ok && strings.Contains(s, ".") {
			return true
		}
	}
}

package scan_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/actors/llmstxt/internal/scan"
)

// utf16Of encodes with a byte order mark.
func utf16Of(order binary.AppendByteOrder, text string) string {
	var data []byte
	for _, unit := range utf16.Encode([]rune("\uFEFF" + text)) {
		data = order.AppendUint16(data, unit)
	}
	return string(data)
}

func TestReadFileDecodes(t *testing.T) {
	const greeting = "# Grüße, мир, 世界 😀\nline\n"
	long := strings.Repeat("x", scan.HeadBytes-1)
	for what, c := range map[string]struct{ data, want string }{
		"utf-8":                {greeting, greeting},
		"mark":                 {"\uFEFF" + greeting, greeting},
		"crlf":                 {"a\r\nb\r\n\rc\r\n", "a\nb\n\rc\n"},
		"utf-16 le":            {utf16Of(binary.LittleEndian, greeting), greeting},
		"utf-16 be":            {utf16Of(binary.BigEndian, greeting), greeting},
		"utf-16 crlf":          {utf16Of(binary.LittleEndian, "a\r\nb"), "a\nb"},
		"utf-16 odd":           {utf16Of(binary.LittleEndian, "ab") + "c", "ab"},
		"utf-16 empty":         {"\xff\xfe", ""},
		"utf-16 half pair":     {"\xff\xfea\x00\x00\xd8", "a\uFFFD"},
		"latin-1":              {"caf\xe9 fran\xe7ais, na\xefve", "café français, naïve"},
		"windows":              {"it\x92s \x93quoted\x94 for 5 \x80", "it’s “quoted” for 5 €"},
		"damaged utf-8":        {strings.Repeat("мир ", 10) + "\xff", strings.Repeat("мир ", 10) + "\uFFFD"},
		"damaged far below":    {long + "xx\xff", long + "xx\uFFFD"},
		"character at the cut": {long + "é", long + "é"},
		"empty":                {"", ""},
	} {
		files := fstest.MapFS{"a.txt": {Data: []byte(c.data)}}
		repo, err := scan.Read(t.Context(), files, scan.Limits{}, nil, nil)
		if err != nil || len(repo.Files) != 1 || repo.Files[0].Size != int64(len(c.data)) {
			t.Errorf("%s: %+v, %v, want one file of %d bytes", what, repo, err, len(c.data))
			continue
		}
		got, whole, err := scan.ReadFile(t.Context(), files, "a.txt", 1<<20)
		if string(got) != c.want || !whole || err != nil {
			t.Errorf("%s: %q, whole %v, %v, want %q", what, got, whole, err, c.want)
		}
	}
}

func TestReadFileCutsBetweenCharacters(t *testing.T) {
	for what, c := range map[string]struct {
		data  string
		limit int64
		want  string
	}{
		"within a character":  {"aé世", 4, "aé"},
		"before a character":  {"aé世", 3, "aé"},
		"within a code unit":  {utf16Of(binary.BigEndian, "abc"), 5, "a"},
		"nothing but a start": {"世", 1, ""},
	} {
		files := fstest.MapFS{"a.txt": {Data: []byte(c.data)}}
		got, whole, err := scan.ReadFile(t.Context(), files, "a.txt", c.limit)
		if string(got) != c.want || whole || err != nil {
			t.Errorf("%s: %q, whole %v, %v, want %q", what, got, whole, err, c.want)
		}
	}
}

func TestBinaryIsNotText(t *testing.T) {
	for what, data := range map[string]string{
		"nul":                 "text\x00text",
		"git lfs":             "version https://git-lfs.github.com/spec/v1\noid sha256:0\n",
		"utf-32":              "\xff\xfe\x00\x00a\x00\x00\x00",
		"utf-16 with nul":     utf16Of(binary.LittleEndian, "a\x00b"),
		"mark by chance":      "\xff\xfe" + strings.Repeat("\x00\xd8", 100),
		"noise":               "\x80\x01\xfe\x02\xc3\x03\x8d\x04",
		"gbk":                 "# \xc4\xe3\xba\xc3\xca\xc0\xbd\xe7\n",
		"koi8-r":              "\xf0\xd2\xc9\xd7\xc5\xd4, \xcd\xc9\xd2\n",
		"control characters":  "a\x01\x02\x03\xe9",
		"undefined in latin1": "abcdefghij\x81klmnop",
	} {
		repo, err := scan.Read(t.Context(), fstest.MapFS{"a.txt": {Data: []byte(data)}}, scan.Limits{}, nil, nil)
		if err != nil || len(repo.Files) != 0 || len(repo.Left) != 1 || repo.Left[0].Reason != scan.Binary {
			t.Errorf("%s: %+v, %v, want binary", what, repo, err)
		}
	}
}

func TestHeadsAreDecodedBeforeTheyAreJudged(t *testing.T) {
	files := fstest.MapFS{
		"tool": {Data: []byte(utf16Of(binary.LittleEndian, "#!/usr/bin/env python3\r\n"))},
		"x.js": {Data: []byte("\uFEFF// @generated\r\n")},
		"a.go": {Data: []byte("\uFEFFpackage a\r\n\r\nimport \"fmt\"\r\n")},
	}
	repo, err := scan.Read(t.Context(), files, scan.Limits{}, nil, nil)
	if err != nil || len(repo.Files) != 3 {
		t.Fatalf("%+v, %v", repo, err)
	}
	if f := repo.Files[0]; f.Package != "a" || len(f.Imports) != 1 {
		t.Errorf("%+v, want package a and its import", f)
	}
	if f := repo.Files[1]; f.Language != "Python" || f.Kind != scan.Source {
		t.Errorf("%+v, want a source in Python", f)
	}
	if f := repo.Files[2]; f.Place != scan.Generated {
		t.Errorf("%+v, want it generated", f)
	}
}

// FuzzRead makes two files and an ignore file of anything.
func FuzzRead(f *testing.F) {
	f.Add("a.go", "package a\n", "sub/README", "\xff\xfeh\x00", "*.go\n!sub")
	f.Add("x/y/z.min.js", "// @generated", "bin/run", "#!/usr/bin/env -S bash -e\n", "")
	f.Add("ext/z/LICENSE", "\xe9", "a.1", ".TH A 1\n", "[")
	f.Fuzz(func(t *testing.T, one, oneText, other, otherText, ignored string) {
		files := fstest.MapFS{
			".lastwordignore": {Data: []byte(ignored)}, one: {Data: []byte(oneText)}, other: {Data: []byte(otherText)},
		}
		repo, err := scan.Read(t.Context(), files, scan.Limits{}, nil, nil)
		if err != nil {
			return // paths that contradict each other
		}
		for _, file := range repo.Files {
			text, _, err := scan.ReadFile(t.Context(), files, file.Path, 1<<20)
			if err != nil || !utf8.Valid(text) || strings.HasPrefix(string(text), "\uFEFF\uFEFF") {
				t.Errorf("%q reads as %q, %v", file.Path, text, err)
			}
		}
	})
}

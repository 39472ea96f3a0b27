package scan

import (
	"bytes"
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// isText tells text by the absence of NUL and by being UTF-8. The last rune may
// be cut when the head is not the whole file.
func isText(head []byte, size int64) bool {
	if bytes.IndexByte(head, 0) >= 0 || bytes.HasPrefix(head, []byte("version https://git-lfs.")) {
		return false
	}
	if utf8.Valid(head) {
		return true
	}
	for cut := 1; cut < utf8.UTFMax && cut < len(head) && size > int64(len(head)); cut++ {
		end := len(head) - cut
		if utf8.RuneStart(head[end]) {
			return utf8.Valid(head[:end])
		}
	}
	return false
}

func isGenerated(name string, head []byte) bool {
	return isGeneratedName(name) || hasGeneratedMark(head) || isMinified(name, head)
}

func isGeneratedName(name string) bool {
	switch name {
	case "go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml",
		"bun.lock", "deno.lock", "Cargo.lock", "poetry.lock", "uv.lock", "pdm.lock", "Pipfile.lock",
		"Gemfile.lock", "composer.lock", "flake.lock", "mix.lock", "pubspec.lock", "Package.resolved":
		return true
	}
	for _, end := range []string{".pb.go", ".pb.cc", ".pb.h", "_pb2.py", "_pb2_grpc.py", ".pb.ts",
		".min.js", ".min.css", ".min.mjs", ".map", ".g.dart", ".generated.ts", "_generated.go"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return strings.HasPrefix(name, "zz_generated")
}

// hasGeneratedMark looks for Go's agreed line anywhere in the head, and for the
// looser marks of other languages in its first lines.
func hasGeneratedMark(head []byte) bool {
	if i := bytes.Index(head, []byte("// Code generated ")); i >= 0 && (i == 0 || head[i-1] == '\n') {
		line, _, _ := bytes.Cut(head[i:], []byte("\n"))
		if bytes.HasSuffix(bytes.TrimRight(line, "\r"), []byte(" DO NOT EDIT.")) {
			return true
		}
	}
	top := head[:min(len(head), 600)]
	if !bytes.Contains(top, []byte("@generated")) && !bytes.Contains(top, []byte("DO NOT EDIT")) &&
		!bytes.Contains(top, []byte("Do not edit")) {
		return false
	}
	for line := range bytes.Lines(top) {
		if generatedLine(line) {
			return true
		}
	}
	return false
}

// generatedLine wants the mark in a comment, so that prose about marks is not
// taken for one.
func generatedLine(line []byte) bool {
	line = bytes.TrimSpace(line)
	comment := false
	for _, start := range []string{"//", "#", "/*", "*", "<!--", "--", ";"} {
		comment = comment || bytes.HasPrefix(line, []byte(start))
	}
	low := bytes.ToLower(line)
	return comment && (bytes.Contains(low, []byte("@generated")) ||
		bytes.Contains(low, []byte("generated")) && bytes.Contains(low, []byte("do not edit")))
}

// isMinified takes a web file without line breaks for the output of a tool.
func isMinified(name string, head []byte) bool {
	switch path.Ext(name) {
	case ".js", ".mjs", ".cjs", ".css", ".html", ".json":
		return len(head) >= 4<<10 && bytes.Count(head, []byte("\n")) < 4
	}
	return false
}

func isBuildIgnored(head []byte) bool {
	return bytes.Contains(head, []byte("//go:build ignore")) &&
		regexp.MustCompile(`(?m)^//go:build ignore\s*$`).Match(head)
}

package model

import (
	"regexp"
	"strings"
)

// SameModel reports whether two names are of one model. Each may have a path or vendor before it, and a date, the tag
// latest or a file extension after it.
func SameModel(a, b string) bool {
	a, b = trimModel(a), trimModel(b)
	return within(a, b) || within(undated(a), b) || within(a, undated(b))
}

func trimModel(name string) string {
	name = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), `\`, "/")
	for _, end := range []string{".gguf", ":latest", "-latest"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

func within(a, b string) bool {
	return a == b || strings.HasSuffix(a, "/"+b) || strings.HasSuffix(b, "/"+a)
}

// undated cuts a release date off the end: year, month and day, or month and day.
func undated(name string) string {
	date := regexp.MustCompile(`-(\d{4}-\d\d-\d\d|\d{8}|(0\d|1[0-2])([0-2]\d|3[01]))$`)
	return date.ReplaceAllString(name, "")
}

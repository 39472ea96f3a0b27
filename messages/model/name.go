package model

import (
	"regexp"
	"strings"
)

// SameModel reports whether two names mean one model. Each name may begin with a path or vendor, and end with a date,
// the tag latest or a file extension.
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

// undated removes a release date from the end: year, month and day, or month and day.
func undated(name string) string {
	date := regexp.MustCompile(`-(\d{4}-\d\d-\d\d|\d{8}|(0\d|1[0-2])([0-2]\d|3[01]))$`)
	return date.ReplaceAllString(name, "")
}

package fatal

import (
	"encoding/json"
	"os"
	"strings"
)

// Table reads cases from a JSON file in the test's folder.
func Table[T any](t ender, file string) (cases T) {
	t.Helper()
	text, err := os.ReadFile(file)
	IfError(t, err)
	IfError(t, json.Unmarshal(text, &cases))
	return cases
}

// Rows reads cases from a text file in the test's folder: a line each, with a tab after each column but the last. Blank lines
// are no cases.
func Rows(t ender, file string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	IfError(t, err)
	for line := range strings.SplitSeq(string(text), "\n") {
		if line != "" {
			rows = append(rows, strings.Split(line, "\t"))
		}
	}
	return rows
}

package fatal

import (
	"encoding/json"
	"os"
)

// Table reads cases from a JSON file in the test's folder.
func Table[T any](t interface {
	Helper()
	Fatal(args ...any)
}, file string) (cases T) {
	t.Helper()
	text, err := os.ReadFile(file)
	IfError(t, err)
	IfError(t, json.Unmarshal(text, &cases))
	return cases
}

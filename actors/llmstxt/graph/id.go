package graph

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

const (
	rootID    = "root"
	idBytes   = 120
	hashBytes = 8 // hexadecimal digits
)

// ids makes unique ids. It ignores case, because some file systems do.
type ids map[string]bool

// of makes an id from the path. shown is the path without text that must not be shown.
func (taken ids) of(path, shown string) string {
	id, exact := safeID(shown)
	if !exact || shown != path || taken[strings.ToLower(id)] {
		sum := sha256.Sum256([]byte(path))
		digits := hex.EncodeToString(sum[:])
		base := id[:min(len(id), idBytes-hashBytes-1)]
		for n := hashBytes; ; n++ {
			if id = base + "~" + digits[:n]; !taken[strings.ToLower(id)] {
				break
			}
		}
	}
	taken[strings.ToLower(id)] = true
	return id
}

// safeID makes an id of a path. exact: nothing of the path is lost.
func safeID(path string) (id string, exact bool) {
	if path == "." {
		return rootID, true
	}
	id = strings.NewReplacer("/", ".", ".", "~").Replace(replaced.ReplaceAllString(path, "_"))
	first, _, _ := strings.Cut(id, ".")
	return id, len(path) <= idBytes && path != rootID && !replaced.MatchString(path) && !reserved.MatchString(first)
}

// replaced matches the characters that an id has an underscore for.
var replaced = regexp.MustCompile(`[^\w@+./-]`)

// reserved matches device names, which Windows finds in every folder whatever follows a dot.
var reserved = regexp.MustCompile(`(?i)^(con|prn|aux|nul|(com|lpt)\d)$`)

var page = regexp.MustCompile(`^nodes/([\w@+~-][\w@+~.-]*)\.md$`)

// IsPage reports whether the name is that of a page, "nodes/<id>.md".
func IsPage(name string) bool { return len(name) <= len("nodes/.md")+idBytes && page.MatchString(name) }

package address

import (
	"cmp"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
)

// Kind is the kind of an address.
type Kind uint8

const (
	Folder  Kind = iota // a local folder
	Git                 // a repository to fetch
	Archive             // a tar or zip, by URL or as a local file
)

// Address says where a repository is.
type Address struct {
	Kind Kind
	// Path is the local folder or archive file, cleaned; "" if it is not local.
	Path string
	// URL is scheme://host/path of what is not local, without credentials and fragment. An archive keeps its query,
	// which may be a signature. The schemes are https, http, ssh (with a user name if there was one) and file.
	URL string
	// Ref is the branch, tag or commit; "" means the default branch.
	Ref string
	// Rest holds ref and folder when they cannot be separated yet: "feature/x/docs". Either Rest or Ref is empty.
	Rest string
	// Dir is the folder to read, relative to the top; "" means everything. Parse leaves it empty.
	Dir string
}

// String formats the address for people. Parse understands it, and it has neither credentials nor a query.
func (a Address) String() string {
	switch {
	case a.Kind == Folder && isArchiveName(a.Path):
		return a.Path + "/"
	case a.Path != "":
		return a.Path
	}
	u, err := url.Parse(a.URL)
	if err != nil {
		return ""
	}
	u.RawQuery, u.Fragment = "", ""
	if a.Kind == Git {
		u.Path, u.RawPath = u.Path+a.suffix(u), ""
	}
	return u.String()
}

func (a Address) suffix(u *url.URL) string {
	switch {
	case a.Rest != "":
		return treeMark(u.Host) + a.Rest
	case a.Dir != "":
		return treeMark(u.Host) + cmp.Or(a.Ref, "HEAD") + "/" + a.Dir
	case a.Ref == "":
		return ""
	case u.Scheme == "ssh" || strings.Contains(a.Ref, "/"):
		return "@" + a.Ref
	}
	return treeMark(u.Host) + a.Ref
}

// treeMark returns what is between repository and ref in the host's own pages. For an unknown host it is the only
// mark that cannot be part of a path.
func treeMark(host string) string { return cmp.Or(treeMarks[host], "/-/tree/") }

var treeMarks = map[string]string{
	"github.com":    "/tree/",
	"bitbucket.org": "/src/",
	"codeberg.org":  "/src/branch/",
	"gitea.com":     "/src/branch/",
}

// maxText is longer than any path or URL that a person writes, in bytes.
const maxText = 4096

// Repositories are below their groups, which become folders. GitLab nests deepest, with up to 20 groups.
const (
	maxNames = 32
	maxName  = 255 // bytes, as in file systems
)

const howTo = "write a folder that exists, owner/repo for GitHub, or the https:// URL of a repository or archive"

func invalid(format string, args ...any) error { return messages.InvalidInput(format, args...) }

func credentials() error {
	return invalid("a user name or password in an address ends up in logs and files; " +
		"leave it out, and put a token into LASTWORD_GIT_TOKENS, as host=token, or GH_TOKEN")
}

// shown quotes a part of the given text, without what may be a secret.
func shown(text string) string {
	if strings.ContainsAny(text, "@?#") {
		return "what was given"
	}
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return `"` + text + `"`
}

func checkText(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return invalid("name a repository; %s", howTo)
	case len(text) > maxText:
		return invalid("the address is longer than %d bytes; %s", maxText, howTo)
	case !isPlain(text):
		return invalid("the address has control or invisible characters, or is not UTF-8; %s", howTo)
	case strings.HasPrefix(text, "-"):
		return invalid("%s begins with a dash; for a folder of that name write ./ before it", shown(text))
	}
	return nil
}

// isPlain refuses text that can deceive its reader.
func isPlain(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) || r == utf8.RuneError
	})
}

func split(path string) []string {
	return slices.DeleteFunc(strings.Split(path, "/"), func(s string) bool { return s == "" })
}

// isKnown reports whether the host's repositories have an owner, and need no ".git".
func isKnown(host string) bool { return host == "gitlab.com" || hasTwoNames(host) }

// hasTwoNames reports whether a repository at the host is always owner/repo.
func hasTwoNames(host string) bool {
	return slices.Contains([]string{"github.com", "bitbucket.org", "codeberg.org", "gitea.com"}, host)
}

func isGitHubPage(owner string) bool {
	return slices.Contains([]string{"orgs", "users", "topics", "search", "settings", "marketplace", "explore",
		"features", "sponsors", "collections", "apps", "trending", "notifications", "login"}, owner)
}

func isHost(name string) bool {
	if strings.Contains(name, ":") {
		ip, err := netip.ParseAddr(name)
		return err == nil && ip.Zone() == ""
	}
	return hostName.MatchString(name)
}

var (
	hostName   = regexp.MustCompile(`^\w[\w-]*(\.[\w-]+)*$`)
	gitHubName = regexp.MustCompile(`^\w[\w-]*$`)
	// safeName matches names that are safe everywhere: no leading dash, and no character with a meaning in a shell, a
	// URL or a file system.
	safeName = regexp.MustCompile(`^[\w.][\w.-]*$`)
)

// isRef applies git's own rules for names of refs. "" is not a ref.
func isRef(ref string) bool {
	return !strings.HasPrefix(ref, "-") && ref != "@" && !strings.ContainsAny(ref, " ~^:?*[\\") &&
		!strings.Contains(ref, "..") && !strings.Contains(ref, "@{") &&
		!strings.HasSuffix(ref, ".lock") && !strings.HasSuffix(ref, ".")
}

func isDotGit(segment string) bool { return strings.HasSuffix(segment, ".git") && segment != ".git" }

func isArchiveName(name string) bool { return archive.MatchString(name) }

var archive = regexp.MustCompile(`(?i)\.(tar(\.(gz|bz2|xz|zst))?|tgz|tbz2|txz|zip)$`)

// isArchive distinguishes a download from a page about something with such a name.
func isArchive(host string, segments []string) bool {
	named := isArchiveName(segments[len(segments)-1])
	switch {
	case host == "codeload.github.com":
		return true
	case host == "api.github.com":
		return slices.Contains(segments, "tarball") || slices.Contains(segments, "zipball")
	case !hasTwoNames(host):
		return named && pageAt(segments) == len(segments)
	case len(segments) < 3:
		return false
	}
	page := segments[2]
	return page == "tarball" || page == "zipball" || named && page != "tree" && page != "src" && page != "blob"
}

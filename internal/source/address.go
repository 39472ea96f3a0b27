package source

import (
	"cmp"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed889630bf/lastword/messages"
)

// kind is the kind of an address.
type kind uint8

const (
	Folder  kind = iota // a local folder
	Git                 // a repository to fetch
	Archive             // a tar or zip, by URL or as a local file
)

// Address says where a repository is.
type Address struct {
	Kind kind
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

// suffix returns what follows the repository's URL: ref and folder, in a form that Parse understands.
func (a Address) suffix(u *url.URL) string {
	switch {
	case a.Rest != "":
		return treeMark(u) + a.Rest
	case a.Dir != "":
		return treeMark(u) + cmp.Or(a.Ref, "HEAD") + "/" + a.Dir
	case a.Ref == "":
		return ""
	case u.Scheme == "ssh" || strings.Contains(a.Ref, "/"): // after a tree mark, a slash may begin the folder
		return "@" + a.Ref
	}
	return treeMark(u) + a.Ref
}

// maxText is longer than any path or URL that a person writes, in bytes.
const maxText = 4096

// Repositories are below their groups, which become folders. GitLab nests deepest, with up to 20 groups.
const (
	maxNames = 32
	maxName  = 255 // bytes, as in file systems
)

const howTo = "write a folder that exists, owner/repo for GitHub, or the https:// URL of a repository or archive"

func credentials() error {
	return messages.InvalidInput("a user name or password in an address ends up in logs and files; " +
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

// checkText refuses a text that is empty, too long, deceptive, or like a flag.
func checkText(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return messages.InvalidInput("name a repository; %s", howTo)
	case len(text) > maxText:
		return messages.InvalidInput("the address is longer than %d bytes; %s", maxText, howTo)
	case !isPlain(text):
		return messages.InvalidInput("the address has control or invisible characters, or is not UTF-8; %s", howTo)
	case strings.HasPrefix(text, "-"):
		return messages.InvalidInput("%s begins with a dash; for a folder of that name write ./ before it", shown(text))
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

// Parse parses text. exists, unless nil, reports whether a cleaned local path exists. A path with the name of an
// archive is taken for an archive, unless it ends with a slash. Errors have the code invalid_input, say what to write
// instead, and never repeat credentials.
func Parse(text string, exists func(path string) bool) (Address, error) {
	if err := checkText(text); err != nil {
		return Address{}, err
	}
	if strings.Contains(text, "://") {
		return remote(text)
	}
	if a, ok := local(text, exists); ok {
		return a, nil
	}
	switch {
	case looksLocal(text):
		return Address{}, messages.InvalidInput("there is no folder or archive %s", shown(text))
	case strings.Contains(text, `\`):
		return Address{}, messages.InvalidInput("%s has a backslash; %s", shown(text), howTo)
	case strings.Contains(text, ":"):
		return colon(text)
	}
	return short(text)
}

// local returns the address of a path that exists. Clean removes "./" before a dash; local adds it again for Parse.
func local(text string, exists func(string) bool) (Address, bool) {
	clean := filepath.Clean(text)
	if exists == nil || !exists(clean) {
		return Address{}, false
	}
	a := Address{Kind: Folder, Path: clean}
	if isArchiveName(text) {
		a.Kind = Archive
	}
	if strings.HasPrefix(clean, "-") {
		a.Path = "./" + clean
	}
	return a, true
}

// looksLocal recognizes paths that only a file system can have.
func looksLocal(text string) bool {
	drive := len(text) > 2 && text[1] == ':' && strings.ContainsRune(`/\`, rune(text[2]))
	return drive || strings.ContainsRune(`./~\`, rune(text[0]))
}

// short parses host/owner/repo without a scheme, and owner/repo on GitHub.
func short(text string) (Address, error) {
	segments := split(text)
	first := segments[0]
	switch {
	case strings.ContainsRune(text, ' '):
		return Address{}, messages.InvalidInput("%s contains a space, and no such folder exists; %s", shown(text), howTo)
	case strings.Contains(first, "@") && len(segments) > 1:
		return Address{}, credentials()
	case strings.Contains(first, ".") && (len(segments) > 2 || isKnown(strings.ToLower(first))):
		return remote("https://" + text)
	case strings.Contains(first, ".") && len(segments) == 2 && (isArchiveName(text) || isDotGit(segments[1])):
		return remote("https://" + text)
	case len(segments) < 2:
		return Address{}, messages.InvalidInput("there is no folder or archive %s; %s", shown(text), howTo)
	case isArchiveName(text) && len(segments) < 4:
		return Address{}, messages.InvalidInput("there is no archive %s; give the path of a file or an https URL", shown(text))
	}
	return github(text, segments)
}

// github parses owner/repo, with or without a ref, as a repository on GitHub.
func github(text string, segments []string) (Address, error) {
	pages := len(segments) > 2 && (segments[2] == "tree" || strings.Contains(segments[1], "@"))
	if !gitHubName.MatchString(segments[0]) || len(segments) > 2 && !pages {
		return Address{}, messages.InvalidInput("there is no folder %s, and it does not name a repository; %s", shown(text), howTo)
	}
	if strings.Contains(text, "#") {
		return Address{}, noFragment()
	}
	return remote("https://github.com/" + text)
}

// colon parses text with a colon but without "://": user@host:path as in scp, host:port/path, and github:owner/repo.
func colon(text string) (Address, error) {
	before, after, _ := strings.Cut(text, ":")
	user, host, named := strings.Cut(before, "@")
	if !named {
		user, host = "", before
	}
	site := sites[before]
	first, _, _ := strings.Cut(after, "/")
	switch {
	case !named && strings.Contains(first, "@") && site == "":
		return Address{}, credentials()
	case strings.Contains(host, "/") || after == "" || strings.Contains(user, "/"):
		return Address{}, messages.InvalidInput("%s is neither a folder nor a repository; %s", shown(text), howTo)
	case site != "" && strings.Contains(after, "#"):
		return Address{}, noFragment()
	case site != "":
		return remote(site + after)
	case !named && slices.Contains([]string{"http", "https", "ssh", "file"}, strings.ToLower(host)):
		return Address{}, messages.InvalidInput("%s lacks the slashes of a URL; write %s://…", shown(text), strings.ToLower(host))
	case !named && portNumber.MatchString(first) && strings.Contains(after, "/"):
		return remote("https://" + text)
	case !named && !strings.Contains(host, "."):
		return Address{}, messages.InvalidInput("%s is neither a folder nor a repository; %s", shown(text), howTo)
	}
	return remote("ssh://" + before + "/" + strings.TrimLeft(after, "/"))
}

// sites maps the short names of package managers to URLs.
var sites = map[string]string{
	"github":    "https://github.com/",
	"gh":        "https://github.com/",
	"gitlab":    "https://gitlab.com/",
	"bitbucket": "https://bitbucket.org/",
}

var portNumber = regexp.MustCompile(`^\d{1,5}$`)

// remote parses a URL.
func remote(text string) (Address, error) {
	u, err := url.Parse(strings.TrimPrefix(text, "git+"))
	switch {
	case strings.ContainsAny(text, " \\"):
		return Address{}, messages.InvalidInput("the URL contains a space or a backslash; write %%20 for a space")
	case err != nil || u.Opaque != "":
		return Address{}, messages.InvalidInput("the URL cannot be read; %s", howTo)
	case hasCredentials(u):
		return Address{}, credentials()
	}
	if err := checkHost(u); err != nil {
		return Address{}, err
	}
	segments, err := checkPath(u)
	if err != nil {
		return Address{}, err
	}
	switch u.Scheme {
	case "https", "http":
		return web(u, segments)
	case "file":
		return file(u, segments)
	case "ssh":
		return ssh(u, segments)
	}
	return Address{}, messages.InvalidInput("%s:// is not supported; write an https:// URL", u.Scheme)
}

func hasCredentials(u *url.URL) bool {
	if u.User == nil {
		return false
	}
	_, secret := u.User.Password()
	return secret || u.Scheme != "ssh" || !safeName.MatchString(u.User.Username())
}

// checkHost normalizes the spelling of the host.
func checkHost(u *url.URL) error {
	name, port := strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()
	if u.Scheme == "file" {
		if u.Host != "" && name != "localhost" {
			return messages.InvalidInput("file://%s/… names another machine; write file:///folder", shown(name))
		}
		u.Host = ""
		return nil
	}
	if !isHost(name) {
		return messages.InvalidInput("the URL has no host; %s", howTo)
	}
	if bare, ok := strings.CutPrefix(name, "www."); ok && isKnown(bare) {
		name = bare
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	u.Host = name
	if port != "" && port != defaultPorts[u.Scheme] {
		u.Host += ":" + port
	}
	return nil
}

var defaultPorts = map[string]string{"https": "443", "http": "80", "ssh": "22"}

// checkPath returns the segments of the URL's path, at least one. None of them leads elsewhere or deceives a reader.
func checkPath(u *url.URL) ([]string, error) {
	segments := split(u.Path)
	if len(segments) == 0 {
		return nil, messages.InvalidInput("the URL names no repository; write https://host/owner/repo")
	}
	for _, s := range segments {
		if s == "." || s == ".." || !isPlain(s) || strings.Contains(s, `\`) {
			return nil, messages.InvalidInput("the URL's path cannot name a repository: it has a part of dots alone, control characters or backslashes")
		}
	}
	return segments, nil
}

// web parses a repository, one of its pages, or an archive.
func web(u *url.URL, segments []string) (Address, error) {
	if isArchive(u.Host, segments) {
		return byURL(u), nil
	}
	end := min(nameEnd(u.Host, segments), len(segments))
	v := page{host: u.Host, repo: segments[:end]}
	if isKnown(v.host) && (end < 2 || v.host == "github.com" && isGitHubPage(segments[0])) {
		return Address{}, v.notRepository()
	}
	if err := v.read(segments[end:]); err != nil {
		return Address{}, err
	}
	return v.address(u)
}

func byURL(u *url.URL) Address {
	plain := url.URL{Scheme: u.Scheme, Host: u.Host, RawQuery: u.RawQuery,
		Path: strings.TrimRight(u.Path, "/"), RawPath: strings.TrimRight(u.RawPath, "/")}
	return Address{Kind: Archive, URL: plain.String()}
}

// file parses a file URL. It has no refs: an "@" is part of the folder's name.
func file(u *url.URL, segments []string) (Address, error) {
	if isArchiveName(u.Path) {
		return byURL(u), nil
	}
	if u.Fragment != "" {
		return Address{}, messages.InvalidInput("a file:// URL names a folder alone; leave out the \"#\" and what follows, " +
			"or write %%23 where it is part of a name")
	}
	plain := url.URL{Scheme: "file", Path: "/" + strings.Join(segments, "/")}
	return Address{Kind: Git, URL: plain.String()}, nil
}

// ssh parses an ssh URL. It shows no pages, so a ref follows the name after an "@", or a ref and a folder after "/-/tree/".
func ssh(u *url.URL, segments []string) (Address, error) {
	v := page{host: u.Host, repo: segments}
	if mark := slices.Index(segments, "-"); mark > 0 && mark+1 < len(segments) && segments[mark+1] == "tree" {
		v.repo, v.rest = segments[:mark], segments[mark+2:]
	}
	switch end, index := slices.IndexFunc(v.repo, isDotGit), refAt(v.repo); {
	case end >= 0 && end+1 < len(v.repo), end < 0 && index >= 0 && len(v.rest) > 0: // something else, or a second ref, follows
		return Address{}, v.notRepository()
	case end < 0 && index >= 0:
		v.cutRef(v.repo, index)
	}
	if hasTwoNames(u.Host) && len(v.repo) != 2 {
		return Address{}, v.notRepository()
	}
	return v.address(u)
}

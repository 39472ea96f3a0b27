package manifest

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of what is taken from one file.
const (
	textBytes   = 1 << 20 // the rest of a longer file is not read
	valueRunes  = 600
	listItems   = 300
	depth       = 64  // of nested values
	mostLicence = 120 // bytes of a licence's name
)

// Manifest is the content of one file. Values are single lines; unknown ones are empty.
type Manifest struct {
	Path         string
	Ecosystem    string // "go", "npm", "deno", "cargo", "pypi", "maven", "gradle", "nuget", "rubygems", ...
	Name         string // for Gradle "group:" if the file has only the group
	Version      string
	Description  string
	Homepage     string
	Repository   string // an https URL without ".git" and credentials if it is recognized, or else the given text
	License      string
	Requires     string   // required version of the language: "Go 1.26", "Node.js >=18"
	Commit       string   // the commit that the manifest pins
	Directory    string   // folder of the package in its repository
	Entries      []string // entry points: slash-separated paths from the root of the material, which need not exist
	Commands     []string // names of the installed programs
	Scripts      []Script // in file order
	Dependencies []string // names of direct run-time dependencies, sorted
	Members      []string // patterns of workspace members, relative to the manifest's folder; "!" excludes
	Private      bool     // must not be published
}

// Script is a named command in the manifest.
type Script struct{ Name, Command string }

// Known reports whether Parse can read files with this name.
func Known(path string) bool { return readerOf(path) != nil }

// Parse parses the manifest at a slash-separated path, relative to the root of the material. If the text is faulty,
// the Manifest has what could be read, and the error describes the fault. Parse never panics.
func Parse(name string, text []byte) (m Manifest, err error) {
	r := readerOf(name)
	if r == nil {
		return Manifest{Path: name}, fmt.Errorf("%s is not a manifest of a known kind", name)
	}
	f := file{Manifest: Manifest{Path: name, Ecosystem: r.ecosystem}, rules: r.rules}
	defer func() {
		// The parsers of these formats are foreign code; a fault in one costs only its file.
		if fault := recover(); fault != nil {
			err = fmt.Errorf("%s cannot be read: %v", name, fault)
		}
		f.customary()
		f.bound()
		m = f.Manifest
	}()
	s := strings.ToValidUTF8(string(text[:min(len(text), textBytes)]), "\uFFFD")
	s = strings.ReplaceAll(strings.TrimPrefix(s, "\uFEFF"), "\r\n", "\n")
	if err := r.read(&f, s); err != nil {
		return m, fmt.Errorf("%s: %w", name, err)
	}
	return m, nil
}

// entry adds an entry point, relative to the manifest's folder.
func (m *Manifest) entry(names ...string) {
	for _, name := range names {
		name = strings.ReplaceAll(strings.TrimSpace(name), `\`, "/")
		if name == "" || strings.ContainsAny(name, "*${}\n") || strings.Contains(name, "://") || len(name) > 400 {
			continue
		}
		p := path.Join(path.Dir(m.Path), name)
		if p == "." || p == ".." || strings.HasPrefix(p, "../") || strings.HasPrefix(p, "/") {
			continue
		}
		if !slices.Contains(m.Entries, p) && len(m.Entries) < listItems {
			m.Entries = append(m.Entries, p)
		}
	}
}

func (m *Manifest) command(names ...string) {
	for _, name := range names {
		if name != "" && !slices.Contains(m.Commands, name) && len(m.Commands) < listItems {
			m.Commands = append(m.Commands, name)
		}
	}
}

// bound makes every value a single line of bounded length.
func (m *Manifest) bound() {
	for _, s := range []*string{&m.Ecosystem, &m.Name, &m.Version, &m.Description, &m.Homepage, &m.License,
		&m.Requires, &m.Commit, &m.Directory} {
		*s = line(*s)
	}
	repository, dir := repositoryURL(line(m.Repository))
	m.Repository = repository
	m.Directory = strings.TrimPrefix(path.Clean("/"+cmp.Or(m.Directory, dir)), "/")
	m.Commands = lines(m.Commands)
	m.Members = lines(m.Members)
	for i, p := range m.Members {
		if strings.HasSuffix(path.Ext(p), "proj") {
			m.Members[i] = path.Dir(strings.ReplaceAll(p, `\`, "/"))
		}
	}
	language, _, _ := strings.Cut(m.Requires, " ")
	m.Dependencies = slices.DeleteFunc(lines(m.Dependencies), func(name string) bool {
		return strings.EqualFold(name, language) // versions of the language are required too
	})
	slices.Sort(m.Dependencies)
	m.Dependencies = slices.Compact(m.Dependencies)
	if len(m.License) > mostLicence {
		m.License = "" // the text of the licence instead of its name
	}
}

// lines makes a line of each text. It drops empty ones, and those beyond listItems.
func lines(list []string) []string {
	var out []string
	for _, s := range list[:min(len(list), listItems)] {
		if s = line(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// line joins the text into one bounded line.
func line(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) > valueRunes {
		s = strings.TrimSpace(string([]rune(s)[:valueRunes]))
	}
	return s
}

// repositoryURL understands the forms in which manifests name a repository: "owner/name", "github:owner/name",
// git+ssh and scp forms, and web pages of a folder. dir is the folder that such a page shows.
func repositoryURL(s string) (address, dir string) {
	s = strings.TrimSpace(strings.TrimPrefix(s, "scm:git:"))
	s = full(strings.TrimPrefix(strings.TrimPrefix(s, "scm:"), "git+"))
	if host, rest, ok := strings.Cut(strings.TrimPrefix(s, "git@"), ":"); ok && !strings.Contains(s, "://") &&
		strings.Contains(host, ".") && !strings.ContainsAny(host, `/\ `) {
		s = "https://" + host + "/" + strings.TrimPrefix(rest, "/")
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" {
		if strings.Contains(s, "@") {
			return "", "" // whatever it is, it may contain a password
		}
		return s, ""
	}
	switch u.Scheme {
	case "http", "https", "git", "ssh":
		return webURL(u)
	}
	return "", ""
}

// webURL returns the https URL of a repository, without the ports of other schemes. dir is the folder that u shows, if
// any.
func webURL(u *url.URL) (address, dir string) {
	host := u.Host
	if u.Scheme != "https" {
		host = u.Hostname()
	}
	p := strings.Trim(u.EscapedPath(), "/")
	for _, mark := range []string{"/-/tree/", "/tree/", "/src/branch/", "/src/"} {
		if repo, rest, ok := strings.Cut(p, mark); ok && strings.Count(repo, "/") >= 1 {
			_, dir, _ = strings.Cut(rest, "/")
			p = repo
			break
		}
	}
	return "https://" + strings.ToLower(host) + "/" + strings.TrimSuffix(p, ".git"), dir
}

// hosts maps the short names of hosts in manifests to their URLs.
var hosts = map[string]string{"github": "https://github.com/", "gitlab": "https://gitlab.com/",
	"bitbucket": "https://bitbucket.org/", "codeberg": "https://codeberg.org/"}

// full expands a short host name, a bare pair, and an address without a scheme, as npm and others do.
func full(s string) string {
	short, rest, _ := strings.Cut(s, ":")
	host, _, _ := strings.Cut(s, ".")
	switch {
	case hosts[short] != "":
		return hosts[short] + strings.TrimPrefix(rest, "/")
	case strings.Count(s, "/") == 1 && !strings.ContainsAny(s, " .@:\\"):
		return hosts["github"] + s
	case strings.HasPrefix("https://"+s, hosts[host]) && hosts[host] != "":
		return "https://" + s
	}
	return s
}

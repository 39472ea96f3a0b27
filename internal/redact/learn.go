package redact

import (
	"encoding/base64"
	"net/url"
	"regexp"
	"strings"
)

// words end the names of secrets; what a secret with the name is called. The first that fits counts.
var words = []struct{ word, kind string }{{"password", "password"}, {"passwd", "password"}, {"passphrase", "password"},
	{"pass", "password"}, {"pwd", "password"}, {"secret", "secret"}, {"token", "token"}, {"pat", "token"}, {"apikey", "key"}, {"key", "key"},
	{"authorization", "header"}, {"auth", "header"}, {"header", "header"}, {"cookie", "header"}, {"credential", "secret"},
	{"cred", "secret"}, {"dsn", "password"}}

// part matches the parts of a name such as DB_PASS, X-Api-Key or apiKey.
var part = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)

// Named returns the kind of secret that a value's name tells, by its last such word, or "" if the name tells of none. last
// reports that no word follows: TYPE follows in TOKEN_TYPE.
func Named(name string) (kind string, last bool) {
	parts := part.FindAllString(name, -1)
	for i := len(parts) - 1; i >= 0; i-- {
		one := strings.TrimSuffix(strings.ToLower(parts[i]), "s")
		for _, w := range words {
			if one == w.word || one+"s" == w.word || len(w.word) > 4 && strings.HasSuffix(one, w.word) {
				return w.kind, i == len(parts)-1
			}
		}
	}
	return "", false
}

// Learn adds the secrets in a value that was read under a name: the value or, in a list, each part of it if the name says
// so. In any case it adds the passwords of URLs, and what has a name in the value itself, as in password=TEXT and
// X-Key: TEXT. PWD and OLDPWD are folders of the shell.
func (s *Secrets) Learn(name, value string) {
	if name == "PWD" || name == "OLDPWD" {
		return
	}
	if key, rest, found := strings.Cut(value, ": "); found && !strings.ContainsAny(key, " /=") {
		s.Learn(key, rest)
	}
	for one := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ';' || r == '&' || isSeparator(r) }) {
		if key, rest, found := strings.Cut(one, "="); found && !strings.ContainsAny(key, "/:") {
			s.Learn(key, rest)
		}
	}
	kind, last := Named(name)
	for _, one := range strings.FieldsFunc(value, isSeparator) {
		s.addUser(one, strings.HasSuffix(strings.ToLower(name), "proxy") || kind == "password")
	}
	if kind == "" || !last && !isMixed(value) {
		return
	}
	if strings.HasSuffix(strings.ToLower(name), "s") && !strings.HasSuffix(strings.ToLower(name), "pass") {
		s.AddList(kind, value)
		return
	}
	s.AddText(kind, value)
}

func isSeparator(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' }

// AddList adds each part of a list with commas or lines: TOKEN, or host=TOKEN as in variables of Git and OpenTelemetry.
func (s *Secrets) AddList(kind, list string) {
	for one := range strings.FieldsFuncSeq(list, func(r rune) bool { return r == ',' || r == '\n' }) {
		for _, one := range append(strings.Fields(one), one) {
			if _, after, named := strings.Cut(one, "="); named && strings.Trim(after, "= ") != "" {
				one = after
			}
			if plain, err := url.PathUnescape(one); err == nil {
				one = plain
			}
			s.AddText(kind, one)
		}
	}
}

// AddText adds a value with the lines that it has, and what follows the name of a scheme, as in Bearer TOKEN.
func (s *Secrets) AddText(kind, text string) {
	s.Add(kind, text)
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "-----") {
			continue
		}
		scheme, after, schemed := strings.Cut(line, " ")
		s.Add(kind, line, strings.TrimPrefix(line, "whsec_"))
		if !schemed || strings.Contains(after, " ") {
			continue
		}
		s.Add(kind, after)
		if login, err := base64.StdEncoding.DecodeString(after); err == nil && strings.EqualFold(scheme, "basic") {
			_, password, _ := strings.Cut(string(login), ":")
			s.Add("password", password)
		}
	}
}

// LearnAddress adds, besides what [Secrets.Learn] does, the parts of a URL that nobody can guess, as in URLs of webhooks.
func (s *Secrets) LearnAddress(address string) {
	s.Learn("", address)
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return
	}
	parts := strings.FieldsFunc(u.Path, func(r rune) bool { return r == '/' })
	for _, values := range u.Query() {
		parts = append(parts, values...)
	}
	for _, one := range parts {
		if isMixed(one) || len(one) >= 3*least {
			s.Add("url", one)
		}
	}
}

// addUser adds the password of a URL, or its user if that has none, and what its query has under names of secrets. bare: it
// may have no scheme.
func (s *Secrets) addUser(address string, bare bool) {
	_, rest, found := strings.Cut(address, "://")
	if !found && !bare {
		return
	}
	if !found {
		rest = address
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		if _, query, found := strings.Cut(rest[end:], "?"); found {
			values, _ := url.ParseQuery(query)
			for name, all := range values {
				for _, value := range all {
					s.Learn(name, value)
				}
			}
		}
		rest = rest[:end]
	}
	pos := strings.LastIndexByte(rest, '@')
	if pos < 0 {
		return
	}
	user, password, both := strings.Cut(rest[:pos], ":")
	if !both && found {
		password = user
	}
	if plain, err := url.PathUnescape(password); err == nil {
		password = plain
	}
	s.Add("password", password)
}

// isPlain reports whether a value is a path, a number or a URL, which are no secrets.
func isPlain(value string) bool {
	if strings.Contains(value, "://") || strings.Trim(value, "0123456789.-") == "" {
		return true
	}
	if !paths.MatchString(value) {
		return false
	}
	for one := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '/' || r == ':' || r == '.' }) {
		if len(one) >= 2*least && isMixed(one) && strings.ToLower(one) != one { // base64 may begin with a slash
			return false
		}
	}
	return true
}

// paths matches what begins like a path, or a list of them.
var paths = regexp.MustCompile(`^(?:/|\.{1,2}/|~/|[A-Za-z]:[\\/])[^\s+=]*$`)

// isMixed reports whether a value has letters and digits, as random ones have.
func isMixed(value string) bool {
	return strings.ContainsAny(value, "0123456789") && strings.ContainsFunc(value, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' })
}

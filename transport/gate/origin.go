package gate

import (
	"cmp"
	"strings"
)

// origins are the web pages' origins that may call besides those of loopback and of the server's own host. Each is as
// browsers write it: scheme://host[:port], without the port that the scheme implies.
type origins []string

func newOrigins(list []string) (origins, error) {
	var all origins
	for _, text := range list {
		o, ok := normalOrigin(text)
		if !ok {
			return nil, invalid("%.100q is not an origin; write scheme://host or scheme://host:port, without a path", text)
		}
		all = append(all, o)
	}
	return all, nil
}

// normalOrigin takes any scheme, because applications that embed a browser have schemes of their own.
func normalOrigin(text string) (string, bool) {
	scheme, host, found := strings.Cut(text, "://")
	if !found || scheme == "" || host == "" || strings.ContainsAny(host, "/?#@\\ \",*") {
		return "", false
	}
	port := impliedPort(scheme)
	if port == "" {
		return text, true
	}
	_, ok := parseEndpoint(host)
	return strings.TrimSuffix(text, ":"+port), ok
}

// impliedPort is "" for schemes that are not the web's.
func impliedPort(scheme string) string {
	switch {
	case strings.EqualFold(scheme, "http"):
		return "80"
	case strings.EqualFold(scheme, "https"):
		return "443"
	default:
		return ""
	}
}

// allow reports whether a page of the origin may call the server at host.
func (all origins) allow(origin string, host endpoint) bool {
	for _, named := range all {
		if strings.EqualFold(named, origin) {
			return true
		}
	}
	scheme, rest, _ := strings.Cut(origin, "://")
	port := impliedPort(scheme)
	e, ok := parseEndpoint(rest)
	if port == "" || !ok {
		return false
	}
	return e.loopback() || e.sameHost(host) && cmp.Or(e.port, port) == cmp.Or(host.port, port)
}

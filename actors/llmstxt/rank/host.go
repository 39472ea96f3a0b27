package rank

import "strings"

// host is what runs a hosting site, which decides how its links look.
type host uint8

const (
	hostUnknown host = iota
	hostGitHub
	hostGitLab
	hostBitbucket
	hostGitea // and Forgejo
	hostGitiles
	hostSourceHut
)

var hosts = map[string]host{
	"github.com": hostGitHub, "gitee.com": hostGitHub, "gitlab.com": hostGitLab, "salsa.debian.org": hostGitLab,
	"invent.kde.org": hostGitLab, "framagit.org": hostGitLab, "code.videolan.org": hostGitLab,
	"bitbucket.org": hostBitbucket, "codeberg.org": hostGitea, "gitea.com": hostGitea, "git.sr.ht": hostSourceHut,
}

// hostOf knows the sites that many use, and those of one's own that say by their name what they run. Bitbucket for
// one's own has other pages than bitbucket.org, and a gist has no folders.
func hostOf(name string) host {
	if known := hosts[name]; known != hostUnknown {
		return known
	}
	if strings.HasSuffix(name, ".googlesource.com") {
		return hostGitiles
	}
	return hostByLabel(name)
}

func hostByLabel(name string) host {
	for label := range strings.SplitSeq(name, ".") {
		switch {
		case strings.HasPrefix(label, "gitlab"):
			return hostGitLab
		case strings.HasPrefix(label, "gitea"), strings.HasPrefix(label, "forgejo"), label == "codeberg":
			return hostGitea
		case strings.HasPrefix(label, "github"):
			return hostGitHub
		case label == "gist":
			return hostUnknown
		}
	}
	return hostUnknown
}

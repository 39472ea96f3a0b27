package history

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"
)

const (
	mostName = 64 // bytes of a tool's name, for every server
	mostID   = 40 // bytes of a call's id, for OpenAI's server
	shortID  = 9
	base62   = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// legalName replaces the characters that servers refuse in a tool's name: for one wrong name they refuse the whole
// request.
func legalName(name string) string {
	if name == "" {
		return "unnamed"
	}
	name = strings.Map(func(r rune) rune {
		if plain(r) || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), mostName)]
}

func plain(r rune) bool { return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

// names gives the calls of a conversation unique ids, because models repeat ids and servers refuse those of other
// servers.
type names struct {
	profile Profile
	taken   map[string]bool
}

// assign names the calls of a group, and their results.
func (n *names) assign(g group) {
	for i := range g[0].Calls {
		id := n.unique(g[0].Calls[i].ID)
		g[0].Calls[i].ID, g[i+1].CallID = id, id
	}
}

// unique returns the id if it is acceptable and new, and otherwise another one.
func (n *names) unique(id string) string {
	wire := id
	for again := 0; !n.accepts(wire); again++ {
		wire = hashed(id + "#" + strconv.Itoa(again))
	}
	n.taken[wire] = true
	return wire
}

// accepts reports whether the server accepts the id, and no other call has it.
func (n *names) accepts(id string) bool {
	foreign := func(r rune) bool { return !plain(r) && (n.profile.ShortIDs || r != '_' && r != '-') }
	if id == "" || len(id) > mostID || n.taken[id] || strings.ContainsFunc(id, foreign) {
		return false
	}
	return !n.profile.ShortIDs || len(id) == shortID
}

func hashed(id string) string {
	sum := sha256.Sum256([]byte(id))
	number := binary.BigEndian.Uint64(sum[:])
	var out [shortID]byte
	for i := range out {
		out[i] = base62[number%uint64(len(base62))]
		number /= uint64(len(base62))
	}
	return string(out[:])
}

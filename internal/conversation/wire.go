package conversation

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages/model"
)

// Profile is what a server requires of the messages.
type Profile struct {
	// ShortIDs: ids of calls must have 9 letters and digits, as Mistral's servers require.
	ShortIDs bool
	// Budget bounds the size of the messages in bytes, see [Size]. 0 means no bound.
	Budget int
}

// Placeholders for what is missing. Servers refuse an empty result, and calls without results.
const (
	noOutput  = "(no output)"
	noResult  = "(the call was interrupted: there is no result)"
	noObject  = "{}"
	paragraph = "\n\n"
)

// Wire returns the messages to send. Wire of its own result changes nothing.
//
//   - All system messages become one, the first. The next message is the user's. Wire merges consecutive messages of
//     the user, and of the assistant.
//   - Exactly one result of each call follows the assistant's message, in the order of the calls. Results without a
//     call are omitted. The arguments of a call are a JSON object, and its name and id are acceptable.
//   - No text is empty, except beside calls. Messages without content are omitted.
//   - If the messages exceed the budget, the oldest are omitted, but results only together with their calls. The system
//     message, the user's last message, and the very last message with its results stay, even if they are too large.
func Wire(conversation []model.Message, p Profile) []model.Message {
	system, groups := grouped(conversation)
	groups = merged(groups)
	ids := names{profile: p, taken: map[string]bool{}}
	for _, g := range groups {
		ids.assign(g)
	}
	if p.Budget > 0 {
		groups = dropOldest(groups, p.Budget-Size(system))
	}
	return slices.Concat(append([][]model.Message{system}, groups...)...)
}

// Size returns the size of the messages for [Profile.Budget]: the bytes of their texts and calls, and some for their
// form.
func Size(messages []model.Message) (bytes int) {
	const form = 16
	for _, m := range messages {
		bytes += form + len(m.Content) + len(m.Thoughts) + len(m.CallID) + len(m.Extra)
		for _, c := range m.Calls {
			bytes += form + len(c.ID) + len(c.Name) + len(c.Arguments) + len(c.Extra)
		}
	}
	return bytes
}

// group is a message of the user, or a message of the assistant with the results of its calls.
type group = []model.Message

// grouped pairs calls with results, and omits messages without content.
func grouped(conversation []model.Message) (system []model.Message, groups []group) {
	for i, m := range conversation {
		blank := strings.TrimSpace(m.Content) == ""
		switch {
		case m.Role == model.System && !blank:
			system = append(system, model.Message{Role: model.System, Content: m.Content, Extra: m.Extra})
		case m.Role == model.User && !blank:
			groups = append(groups, group{{Role: model.User, Content: m.Content, Extra: m.Extra}})
		case m.Role == model.Assistant && (!blank || len(m.Calls) > 0):
			groups = append(groups, answered(m, conversation[i+1:]))
		}
	}
	if len(system) > 1 {
		texts := make([]string, len(system))
		for i, m := range system {
			texts[i] = m.Content
		}
		system = []model.Message{{Role: model.System, Content: strings.Join(texts, paragraph)}}
	}
	return system, groups
}

// answered returns the assistant's message with the results of its calls, which are the next messages.
func answered(m model.Message, next []model.Message) group {
	content := m.Content
	if strings.TrimSpace(content) == "" {
		content = ""
	}
	g := group{{Role: model.Assistant, Content: content, Calls: slices.Clone(m.Calls), Extra: m.Extra}}
	if m.ThoughtsIn != "" { // servers refuse thoughts that they did not send so
		g[0].Thoughts, g[0].ThoughtsIn = m.Thoughts, m.ThoughtsIn
	}
	end := slices.IndexFunc(next, func(m model.Message) bool { return m.Role != model.ToolRole })
	if end < 0 {
		end = len(next)
	}
	results := slices.Clone(next[:end])
	for i, c := range m.Calls {
		g[0].Calls[i].Name = legalName(c.Name)
		g[0].Calls[i].Arguments = object(c.Arguments)
		result := model.Message{Role: model.ToolRole, Content: noResult}
		if n := slices.IndexFunc(results, func(m model.Message) bool { return m.CallID == c.ID }); n >= 0 {
			if result.Content = results[n].Content; strings.TrimSpace(result.Content) == "" {
				result.Content = noOutput
			}
			results = slices.Delete(results, n, n+1)
		}
		g = append(g, result)
	}
	return g
}

// object returns the arguments, or {} if they are not a JSON object, because templates of models parse them.
func object(arguments string) string {
	if strings.HasPrefix(strings.TrimLeft(arguments, " \t\r\n"), "{") && json.Valid([]byte(arguments)) {
		return arguments
	}
	return noObject
}

// merged makes the first group the user's, and merges neighbours of one role. An assistant's message is merged into
// one without calls.
func merged(groups []group) (out []group) {
	for _, g := range groups {
		if len(out) == 0 {
			if g[0].Role == model.User {
				out = append(out, g)
			}
			continue
		}
		before := out[len(out)-1]
		if before[0].Role != g[0].Role || len(before[0].Calls) > 0 {
			out = append(out, g)
			continue
		}
		g[0].Content = joined(before[0].Content, g[0].Content)
		g[0].Thoughts = joined(before[0].Thoughts, g[0].Thoughts)
		g[0].ThoughtsIn, g[0].Extra = cmp.Or(g[0].ThoughtsIn, before[0].ThoughtsIn), cmp.Or(g[0].Extra, before[0].Extra)
		out[len(out)-1] = g
	}
	return out
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + paragraph + b
}

// lastUser returns the index of the last group that is the user's, or 0 if there is none.
func lastUser(groups []group) int {
	for i, g := range slices.Backward(groups) {
		if g[0].Role == model.User {
			return i
		}
	}
	return 0
}

// dropOldest omits the oldest groups until the rest fits into the bytes. The rest begins with a message of the user.
func dropOldest(groups []group, most int) []group {
	if len(groups) == 0 {
		return groups
	}
	last, bytes := lastUser(groups), 0
	for _, g := range groups {
		bytes += Size(g)
	}
	first := 0
	for first < last && (bytes > most || groups[first][0].Role != model.User) {
		bytes -= Size(groups[first])
		first++
	}
	tail := last + 1 // in the turn itself, the first group after the user's message
	for tail < len(groups)-1 && bytes > most {
		bytes -= Size(groups[tail])
		tail++
	}
	return slices.Concat(groups[first:last+1], groups[tail:])
}

// Tail returns the index where the newest messages within the bytes begin. It is a message of the user or, in the
// last turn, one of the assistant. The last message of the assistant is always included, with the results of its
// calls.
func Tail(conversation []model.Message, bytes int) int {
	user, first, size := LastUser(conversation), len(conversation), 0
	for i, m := range slices.Backward(conversation) {
		size += Size(conversation[i : i+1])
		if m.Role == model.ToolRole || m.Role != model.User && i < user {
			continue
		}
		if first < len(conversation) && size > bytes {
			break
		}
		first = i
	}
	return first
}

// Summarized returns the conversation with its first messages replaced by a summary. The user's last message always
// stays, because the model answers it.
func Summarized(conversation []model.Message, summary string, covers int) []model.Message {
	out := []model.Message{{Role: model.User, Content: "Summarize what was said until now."},
		{Role: model.Assistant, Content: "[Summary of what was said and done before]\n\n" + summary}}
	if last := LastUser(conversation); last >= 0 && last < covers {
		out = append(out, conversation[last])
	}
	return append(out, conversation[covers:]...)
}

// LastUser returns the index of the user's last message, or -1.
func LastUser(conversation []model.Message) int {
	for i, m := range slices.Backward(conversation) {
		if m.Role == model.User {
			return i
		}
	}
	return -1
}

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

// names gives the calls of a conversation unique ids, because models repeat ids and servers refuse the ids of other
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

// hashed returns shortID letters and digits for an id of any length, the same for the same id.
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

package decode

// kind is a way to mark a thought. The first kinds are tags, in the order of names.
type kind uint8

const (
	think kind = iota
	thinking
	thought
	reasoning
	scratchpad
	mmThink
	mistral
	gemma
	litert
	harmony
	field
)

// names are the names of tags, compared without regard to case. Each is a bit of a tagSet.
var names = [...]string{"think", "thinking", "thought", "reasoning", "reasoning_scratchpad", "mm:think"}

// tagSet is a set of tags; bit k is the tag of kind k.
type tagSet uint8

const (
	allTags tagSet = 1<<len(names) - 1
	// template are the tags that chat templates make models write. People write these tags too, in texts about
	// models, so they open a thought only where one can be expected.
	template = 1<<think | 1<<mmThink
)

// role says whether a mark opens a thought, closes one, or begins a message.
type role uint8

const (
	opens role = iota
	closes
	heads // a message of harmony, up to endHeader
)

// literals are the marks that are compared byte by byte. None is a prefix of another. Within each, the first byte
// does not occur again, except where a new mark may begin: so a failed match never has to be read twice.
var literals = [...]struct {
	text string
	kind kind
	role role
}{
	{"[THINK]", mistral, opens},
	{"[/THINK]", mistral, closes},
	{"<|channel>thought", gemma, opens},
	{"<channel|>", gemma, closes},
	{"<|think|>", litert, opens},
	{"<|/think|>", litert, closes},
	{"<|start|>", harmony, heads},
	{"<|channel|>", harmony, heads},
	{"<|end|>", harmony, closes},
	{"<|return|>", harmony, closes},
	{"<|call|>", harmony, closes},
}

const (
	endHeader = "<|message|>"
	maxHeader = 256
)

// literalSet has a bit for each of the literals.
type literalSet uint16

// wanted is the set of marks that may come.
type wanted struct {
	open, close tagSet
	literals    literalSet
}

func (w *wanted) want(k kind, r role) {
	for i, l := range literals {
		if l.kind == k && l.role == r {
			w.literals |= 1 << i
		}
	}
}

// mark is what a matcher has found.
type mark struct {
	kind kind
	role role
	self bool // <think/>
}

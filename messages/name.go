package messages

import (
	"reflect"
	"unicode"
)

// Steers reports whether a terminal acts on the character instead of showing it: a control character, or one that
// changes the direction of writing.
func Steers(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }

// steers is why a name is refused. Every text of a decoded value is a name, unless its field has the tag text:"any".
const steers = "a name with a control character or one that changes the direction of writing"

// nameSteers reports whether the name has a character that steers a terminal.
func nameSteers(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c < ' ', c == 0x7f:
			return true
		case c > 0x7f:
			for _, r := range name[i:] {
				if Steers(r) {
					return true
				}
			}
			return false
		}
	}
	return false
}

// maySteer reports whether JSON may hold a name that steers: without a check, names of readable ASCII pass.
func maySteer(data []byte) bool {
	for _, c := range data {
		if c == '\\' || c >= 0x7f {
			return true
		}
	}
	return false
}

// CheckNames returns an invalid_input error, which names the field, if a value that was read from JSON has a name that
// could steer a terminal. Answers of servers need it; an [Event] refuses such names by itself.
func CheckNames(v any) error {
	if field, why := unwritable(reflect.ValueOf(v), true); why == steers {
		return InvalidInput("the %s is %s; it is refused", field, why)
	}
	return nil
}

// UnmarshalText reads the id, and refuses one that could steer a terminal.
func (id *RunID) UnmarshalText(text []byte) error {
	*id = RunID(text)
	return CheckNames(*id)
}

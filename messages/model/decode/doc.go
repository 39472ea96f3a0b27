// Package decode decodes a model's answer piece by piece, as it arrives: JSON strings that
// split a rune or a surrogate pair ([Unescape]), fragments of tool calls ([Calls]), thoughts between tags
// ([Thoughts]) and the string fields of a JSON object that is still incomplete ([Fields]).
//
// Callers push pieces. Every decoder reads its input once, holds back only what the next piece may change (at most
// [Held] bytes), and decodes to the same result however the input is cut into pieces. None is safe for concurrent
// use.
package decode

// Held is how many bytes of an answer a decoder holds back at most while it waits to know what they are. What is
// longer is what it looks like: text.
const Held = 8 << 10

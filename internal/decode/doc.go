// Package decode decodes a model's answer piece by piece, as it arrives: JSON strings that split a rune or a
// surrogate pair ([Unescape]), fragments of tool calls ([Calls]), thoughts between tags ([Thoughts]), and the string
// fields of a JSON object that is still incomplete ([Fields]).
//
// Callers push pieces. Every decoder reads its input once, and holds back only what the next piece may change (at
// most [Held] bytes). Its result does not depend on how the input is cut into pieces. None is safe for concurrent
// use.
package decode

// Held bounds the bytes of an answer that a decoder holds back until it knows what they are. Anything longer is plain
// text.
const Held = 8 << 10

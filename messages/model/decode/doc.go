// Package decode takes the pieces of a model's answer apart while they come: bytes that split a rune ([UTF8]), JSON
// strings that split a surrogate pair ([Unescape]), fragments of tool calls ([Calls]), thoughts between tags
// ([Thoughts]) and the string fields of a JSON object that is not complete yet ([Field], [Fields]).
//
// Every decoder is pushed, reads its input once, holds back only what the next piece may still change (at most [Held]
// bytes) and gives the same whole for any division of its input into pieces. None is safe for concurrent use.
package decode

// Held is how many bytes of an answer a decoder holds back at most while it waits to know what they are. What is longer
// is what it looks like: text.
const Held = 8 << 10

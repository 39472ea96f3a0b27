// Package sse reads server-sent events as the WHATWG defines them, in bounded memory.
//
// A lenient [Reader] also takes what servers of language models send instead: JSON is an event as soon as its line and
// its last brace have come, with or without a blank line after it; [DONE] is one as soon as its last bracket has come;
// a last line of JSON needs no end; a bare line of JSON is data; a field named error is an event named error.
package sse

// Package sse reads server-sent events as the WHATWG defines them, in bounded memory.
//
// A lenient [Reader] also accepts what model servers send instead. JSON is an event as soon as its line or its last
// brace has arrived, without a blank line after it. [DONE] is one as soon as its bracket has arrived. A last line of
// JSON needs no newline, a bare line of JSON is data, and a field named error is an event named error, as are the words
// of a proxy's error.
package sse

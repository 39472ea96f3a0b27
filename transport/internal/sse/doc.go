// Package sse parses server-sent events according to the WHATWG standard, with bounded memory.
//
// A lenient [Reader] also accepts what model servers send. JSON is an event as soon as its line or its last brace has
// arrived, without a blank line after it; [DONE] is an event as soon as its bracket has arrived. A last line of JSON
// needs no newline. A bare line of JSON is data. A field named "error", and the error text of a proxy, are events named
// "error".
package sse

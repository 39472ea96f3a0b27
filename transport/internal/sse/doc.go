// Package sse reads server-sent events as the WHATWG defines them, in bounded memory, and forgives what servers of
// language models get wrong where a [Reader] is asked to.
package sse

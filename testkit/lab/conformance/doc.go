// Package conformance is what the protocol's conformance suite asks of a server under test: tools, jobs, resources and
// prompts whose names and answers the suite knows. They come through the door's public API, as an embedder's would, and
// [Serve] serves them.
package conformance

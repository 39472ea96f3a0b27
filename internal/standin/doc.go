// Package standin stands in for the servers that lastword calls, in its own tests: [Model] for a server of language
// models, down to each byte, [MCPServer] for one of tools, and [Network] for the wires between. Package testkit has
// what tests of other programs need of it.
package standin

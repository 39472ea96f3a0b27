// Package agent runs coding agents: programs of others that work in a folder.
//
// [Define] makes the job agent: an agent that speaks the Agent Client Protocol (ACP), for one prompt. [Headless] reads
// what an agent prints for programs, as JSON lines. Both say the same events as other jobs: texts "answer.1" and so on,
// thoughts, tools, and one call of a model for the turn, with its usage. What an agent does in its own way is in the
// table [agents].
//
// An agent's word that it stopped is no verdict. client.verdict and headless.verdict decide: who cancelled, which
// errors came, what was refused. The program always ends, see [command.Speaker].
package agent

// Package testkit tests programs that are built on lastword, and lastword itself. Only tests import it.
//
// Stand-ins: [Repository] makes a folder from a txtar archive. [Model] is a server of language models with scripted
// answers. [Journal] wraps a journal and makes it slow, blocked, refusing, uncertain, lying or panicking.
//
// Contract suites: [TestJournal] tests that a journal keeps the contract of [journal.Journal]. [TestRuntime] tests
// the runtime on that journal, with two nodes. [CheckLog] checks any sequence of events.
//
// Your own jobs: [Check] breaks a job at every point where it waits, and reports the promises that it breaks.
//
// Replay: [Replay] runs a recorded run again, with the recorded answers, and finds where the code has changed.
//
// Faults: [System] gives a test virtual time and a System, and injects a [Fault] into each of its runs. Every fault
// is a fault.injected event, and a run that dies of one has the cause injected.
package testkit

// Package testkit tests what is built on lastword: this module's own packages, and yours. Only tests import it.
//
// Stand-ins: [Repository] makes a folder from a txtar archive, [Script] a job of three tasks from steps that are data,
// [Model] is a server of language models whose every byte is scripted, and [Journal] wraps any journal so that it is
// slow, blocked, refusing, uncertain or lying, or panics.
//
// Contract suites: [TestJournal] holds a journal to what [actors.Journal] promises, [TestRuntime] the runtime to its
// promises on that journal, with two nodes, and [TestStream] any way to read a run's events to the reader's law. [Check] and [CheckTail] judge any sequence of events.
//
// Faults: [System] gives a test virtual time and a System whose runs, of any job, can have a [Fault] each. Every fault is
// a fault.injected event, and a run that dies of one has the cause injected. A [Plan] is one row of the table failure ×
// actor × phase × cancel for a Script, or two, made from a seed and printable; [Faults] injects plans into the runs of a
// System and says what the runs may end as. [ModelFaults] are the ways in which a server of models fails, each with what
// a call must end in.
package testkit

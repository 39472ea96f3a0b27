// Package plan is the job that runs plans: steps that observe, decide and act, without polling. A plan is a run. Each
// step is a sub-run that starts when the steps before it have ended.
//
// [Parse] reads a [Plan] from YAML or JSON. [Plan.Check] reports all faults, with line and column, before anything
// runs. [Job] makes the job. Go programs write a Plan as a value.
//
//	name: demo
//	params:
//	  repository: {type: string}
//	steps:
//	  - name: generate
//	    job: generate
//	    input: {repository: "${params.repository}", full: true}
//	  - name: text
//	    needs: generate
//	    read: {run: "${steps.generate.run}", name: llms-full.txt}
//	result: ${steps.text.result.text}
//
// A template "${...}" and a guard (if, until) refer to params.NAME; to steps.NAME of steps that this one needs,
// directly or indirectly; and, in a step for each item of a list, to item and index. A step has outcome (completed,
// failed, canceled or skipped), cause, error, run, result, artifacts, seconds, rounds and, with items, results.
//
// The run's log explains the plan: step.started and step.ended contain the outcome, what follows, and the reason.
// Decisions depend only on the outcomes of the steps and their order. After a crash the plan continues from its log:
// it repeats nothing that has ended, and finds running sub-runs by name.
package plan

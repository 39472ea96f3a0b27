// Package plan is the plan job: steps that observe, decide and act, with no polling. A plan is a run, and each of its
// steps is a sub-run that starts on the terminal event of those before it.
//
// [Parse] reads a [Plan] from YAML or JSON, and [Plan.Check] says all that is wrong with it before anything runs, with
// line and column. [Job] makes the job. Go programs write a Plan as a value.
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
// A template "${...}" and a guard (if, until) refer to params.NAME, to steps.NAME of steps that this one needs, directly
// or through others, and to item and index in a step for each item of a list. A step has outcome (completed, failed,
// canceled or skipped), cause, error, run, result, artifacts, seconds, rounds and, for each item, results.
//
// The run's log tells why: step.started and step.ended carry the outcome, what follows and the reason. The decisions
// depend on the outcomes of the steps and their order alone. After a crash the plan goes on from its log: what has ended
// is not run again, and what was running is found by its name.
package plan

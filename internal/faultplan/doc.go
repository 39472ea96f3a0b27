// Package faultplan breaks runs in lastword's own tests: [Faults] injects a [FaultPlan] into each of many runs of a
// System, and [Script] is a job of three tasks whose steps are data. Package testkit injects single faults.
package faultplan

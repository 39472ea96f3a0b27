// Package world simulates whole systems, each in a bubble of virtual time: two nodes on one journal, a model's server,
// HTTP clients over pipes, readers that are cut and come back, people who answer and cancel, and the faults of a plan.
//
// A plan is made from a seed, and can be printed. After it each log must keep the laws, each run must have one end, and
// each reader must hold what the journal holds. The faults of a plan that fails are taken away one by one while it
// still fails.
package world

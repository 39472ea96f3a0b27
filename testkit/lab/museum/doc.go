// Package museum keeps public bugs of systems that stream runs or models, one test for each, named after the report:
// its repository and number. Each shows that the bug cannot happen here.
//
// mutants.txt puts each bug back, as a change of our source. make museum builds every mutant and requires that the
// test of its name fails.
package museum

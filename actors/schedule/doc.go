// Package schedule starts jobs by themselves, at the times that an operator's file says.
//
// A [Clock] starts one run for each time, however many nodes share the journal and however often they start: the time is
// the key of the run, and a key makes the run's id. What it has to remember, it keeps in marks that all nodes share: the last
// time of each schedule, the run of that, and whether somebody paused it. A mark that is lost or old costs a start that finds
// the run of the same key.
//
// A schedule belongs to a principal, as runs do. [Clock.Define] is the job with which callers list, run and pause their own.
package schedule

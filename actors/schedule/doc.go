// Package schedule starts jobs at the times in an operator's file.
//
// A [Clock] starts one run for each time, on however many nodes, and however often they start. The time is the run's
// key, and the key determines the run's id. Marks, which all nodes share, record the last time of each
// schedule, its last run, and whether somebody paused it. A mark that is lost or old costs one start that finds the
// existing run.
//
// A schedule belongs to a principal, as runs do. [Clock.Operate] lists, runs and pauses a caller's own schedules.
package schedule

// Package guardian starts programs so that all that they start ends with them, however this process ends.
//
// [New] starts the guardian: this binary again, which init of this package recognizes before most other packages are
// initialized. For lastword run, init starts it, and New takes it. Its pipe is a socket. The guardian forks the
// programs, passes on their descriptors and exit statuses, and adopts what they leave behind (PR_SET_CHILD_SUBREAPER).
// So every process that a program starts stays below the guardian, whatever session it leads.
//
// Each program is marked: by a cgroup where the guardian may make one, by the variable LASTWORD_GUARD, and by a limit.
// The guardian ends all that has the mark when the program has ended, when it is told to, when this process has ended,
// and when [Guardian.Beat] was last called too long ago. Only then it says that nothing lives.
//
// While a guardian lives it holds the lock of a folder. The next process with the same folder waits in [New].
//
// On systems other than Linux, New returns nil, and [Guardian.Start] of nil does not exist: the process group remains.
package guardian

// Package fault is the switchboard of fault points: named places in the runtime, its stores, tools and readers where a
// [Board] can make something fail. A point that no rule arms costs a load and a branch.
package fault

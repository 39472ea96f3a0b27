// Package fault injects faults: at named points in the runtime, its stores, tools and readers, a [Board] can make
// something fail. A point without a rule costs a load and a branch.
package fault

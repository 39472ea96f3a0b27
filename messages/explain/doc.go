// Package explain says in plain sentences what happened in a run and why. It reads nothing but the run's events.
package explain

// Package explain describes in plain sentences what happened in a run, and why. It reads only the run's events.
package explain

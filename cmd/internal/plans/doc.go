// Package plans is the command plan: check, run, graph and show.
package plans

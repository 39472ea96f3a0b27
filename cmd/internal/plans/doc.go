// Package plans implements the command plan with its subcommands check, run, graph and init.
package plans

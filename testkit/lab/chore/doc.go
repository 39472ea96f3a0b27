// Command chore does what targets of the Makefile need beyond a line of shell: chore NAME [ARGUMENT ...].
package main

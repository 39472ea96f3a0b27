// Package repository opens what generate reads: folders, archives, and Git repositories with their tokens.
package repository

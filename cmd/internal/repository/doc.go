// Package repository opens what generate reads: folders, archives, and Git repositories with the user's access tokens.
package repository

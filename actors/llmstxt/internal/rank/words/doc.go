// Package words holds the word lists in words.txt, which classify pages, sentences and files.
package words

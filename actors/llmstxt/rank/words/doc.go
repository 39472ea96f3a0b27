// Package words holds the lists of words by which pages, sentences and files are told from each other: words.txt.
package words

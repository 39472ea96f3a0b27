// Package words shortens texts for people and compares names that people mistype.
package words

// Package atomicfile writes files so that nobody ever sees a part of one.
package atomicfile

// Package atomicfile writes files atomically: nobody ever sees a part of one. It locks files between processes, on Unix
// and Windows.
package atomicfile

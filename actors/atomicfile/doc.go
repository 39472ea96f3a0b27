// Package atomicfile writes files atomically: nobody ever sees a part of one.
package atomicfile

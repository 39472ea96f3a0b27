package git

import "io"

const chunkBytes = 256 << 10

// chunks is a byte string that grows without being moved.
type chunks struct {
	list [][]byte
	size int64
}

// Write never fails.
func (c *chunks) Write(p []byte) (int, error) {
	written := len(p)
	for len(p) > 0 {
		at := int(c.size % chunkBytes)
		if at == 0 {
			c.list = append(c.list, make([]byte, chunkBytes))
		}
		n := copy(c.list[len(c.list)-1][at:], p)
		p, c.size = p[n:], c.size+int64(n)
	}
	return written, nil
}

// ReadAt is that of [io.ReaderAt].
func (c *chunks) ReadAt(p []byte, offset int64) (int, error) {
	read := 0
	for read < len(p) {
		if offset >= c.size {
			return read, io.EOF
		}
		end := min(chunkBytes, c.size-offset/chunkBytes*chunkBytes)
		n := copy(p[read:], c.list[offset/chunkBytes][offset%chunkBytes:end])
		read, offset = read+n, offset+int64(n)
	}
	return read, nil
}

package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// errMalformed means that a pack breaks its format.
var errMalformed = errors.New("the pack contradicts itself")

// objectsPerFile is how many objects may be received per file of the limit: the file itself and, in unusual
// repositories, its folders.
const objectsPerFile = 4

// mostRedone limits how much may be recreated from deltas, as a multiple of the limit for unpacked bytes.
const mostRedone = 16

// pack is a packfile in memory, as received. Its objects are unpacked, or created from deltas, each time they are read.
// After receive, it may be read concurrently.
type pack struct {
	sent     chunks
	known    map[plumbing.Hash]packed // the location of each object, by hash
	bases    map[int64]int64          // the offset of each delta's base, by the delta's offset
	limits   Limits
	left     int64 // how many bytes may still be unpacked
	redoable int64 // how many bytes may still be unpacked again

	mu    sync.Mutex      // guards cache and redoable
	cache cache.BufferLRU // unpacked objects by offset
}

// packed is the location of an object in a pack.
type packed struct {
	offset, size int64
	kind         plumbing.ObjectType
}

// receive reads a whole pack and hashes every object. It checks all sizes against the limits first.
func receive(ctx context.Context, from io.Reader, limits Limits) (*pack, error) {
	p := &pack{known: map[plumbing.Hash]packed{}, bases: map[int64]int64{}, limits: limits,
		left: limits.UnpackedBytes, redoable: mostRedone * limits.UnpackedBytes, cache: cache.BufferLRU{MaxSize: liveBytes}}
	scanner := packfile.NewScanner(io.TeeReader(from, &p.sent))
	_, count, err := scanner.Header()
	if err != nil {
		return nil, err
	}
	if int64(count) > objectsPerFile*int64(limits.Files) {
		return nil, exceeded("the repository holds %d objects, too many for %d files; raise --max-files", count, limits.Files)
	}
	var waiting deltas
	for range count {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := p.next(scanner, &waiting); err != nil {
			return nil, err
		}
	}
	if _, err := scanner.Checksum(); err != nil {
		return nil, err
	}
	return p, p.resolveDeltas(ctx, &waiting)
}

// next reads one object. It only records deltas, whose base may come later.
func (p *pack) next(scanner *packfile.Scanner, waiting *deltas) error {
	header, err := scanner.NextObjectHeader()
	if err != nil {
		return err
	}
	if err := p.spend(header.Length); err != nil {
		return err
	}
	switch header.Type {
	case plumbing.CommitObject, plumbing.TreeObject, plumbing.BlobObject, plumbing.TagObject:
	case plumbing.OFSDeltaObject, plumbing.REFDeltaObject:
		waiting.add(header)
		return copyObject(scanner, io.Discard, header.Length)
	default:
		return errMalformed
	}
	hasher := plumbing.NewHasher(header.Type, header.Length)
	if err := copyObject(scanner, hasher, header.Length); err != nil {
		return err
	}
	p.known[hasher.Sum()] = packed{offset: header.Offset, size: header.Length, kind: header.Type}
	return nil
}

// spend counts bytes against the limit. It must be called before they are unpacked.
func (p *pack) spend(size int64) error {
	if size < 0 {
		return errMalformed
	}
	if size > p.left {
		return exceeded("the repository holds more than %s unpacked; raise --max-bytes", bytesText(p.limits.UnpackedBytes))
	}
	p.left -= size
	return nil
}

// copyObject unpacks an object. The scanner refuses objects that are longer than declared.
func copyObject(scanner *packfile.Scanner, to io.Writer, size int64) error {
	n, _, err := scanner.NextObject(to)
	if err == nil && n != size {
		return errMalformed
	}
	return err
}

func (p *pack) size(h plumbing.Hash) (int64, error) {
	o, ok := p.known[h]
	if !ok {
		return 0, plumbing.ErrObjectNotFound
	}
	return o.size, nil
}

// read returns an object. Objects stored whole need no lock; deltas share a cache.
func (p *pack) read(kind plumbing.ObjectType, h plumbing.Hash) ([]byte, error) {
	o, ok := p.known[h]
	if !ok || o.kind != kind {
		return nil, plumbing.ErrObjectNotFound
	}
	if _, isDelta := p.bases[o.offset]; !isDelta {
		return p.unpack(o.offset)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.whole(o.offset)
}

// unpack inflates the object or delta at the offset.
func (p *pack) unpack(offset int64) ([]byte, error) {
	scanner := packfile.NewScanner(io.NewSectionReader(&p.sent, 0, p.sent.size))
	header, err := scanner.SeekObjectHeader(offset)
	if err != nil {
		return nil, err
	}
	if header.Length > p.limits.ObjectBytes {
		return nil, exceededObject(header.Length, p.limits)
	}
	data := bytes.NewBuffer(make([]byte, 0, header.Length))
	if err := copyObject(scanner, data, header.Length); err != nil {
		return nil, fmt.Errorf("unpack: %w", err)
	}
	return data.Bytes(), nil
}

// chunkBytes is the size of a chunk. Chunks avoid the copies of a slice that grows.
const chunkBytes = 256 << 10

// chunks is a byte slice that grows without copying. It holds the pack.
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

// ReadAt implements [io.ReaderAt].
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

// liveBytes is the maximum size of the cache of unpacked objects, in bytes.
const liveBytes = 48 << 20

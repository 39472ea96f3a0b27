package git

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/seed889630bf/lastword/internal/words"
	"github.com/seed889630bf/lastword/messages"
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
		return nil, messages.LimitExceeded("the repository holds %d objects, too many for %d files; raise --max-files", count, limits.Files)
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
		return messages.LimitExceeded("the repository holds more than %s unpacked; raise --max-bytes", words.Limit(p.limits.UnpackedBytes))
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
		pos := int(c.size % chunkBytes)
		if pos == 0 {
			c.list = append(c.list, make([]byte, chunkBytes))
		}
		n := copy(c.list[len(c.list)-1][pos:], p)
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

// deltas holds the positions of delta objects in a pack, by their base: its offset or its hash.
type deltas struct {
	count   int
	byPlace map[int64][]int64
	byHash  map[plumbing.Hash][]int64
}

// add records a delta. Its base may be anywhere in the pack.
func (d *deltas) add(header *packfile.ObjectHeader) {
	if d.byPlace == nil {
		d.byPlace, d.byHash = map[int64][]int64{}, map[plumbing.Hash][]int64{}
	}
	d.count++
	if header.Type == plumbing.OFSDeltaObject {
		d.byPlace[header.OffsetReference] = append(d.byPlace[header.OffsetReference], header.Offset)
		return
	}
	d.byHash[header.Reference] = append(d.byHash[header.Reference], header.Offset)
}

// of removes and returns the deltas against one object.
func (d *deltas) of(offset int64, h plumbing.Hash) []int64 {
	found := append(d.byPlace[offset], d.byHash[h]...)
	delete(d.byPlace, offset)
	delete(d.byHash, h)
	return found
}

// edge connects an object with a delta against it.
type edge struct {
	base, delta int64 // offsets
	kind        plumbing.ObjectType
}

// resolveDeltas creates the objects of all deltas, from their bases outwards. It applies each delta at least once,
// however long the chains are. Objects stay in memory only while they fit the cache.
func (p *pack) resolveDeltas(ctx context.Context, waiting *deltas) error {
	var stack []edge
	push := func(h plumbing.Hash, o packed) {
		for _, delta := range waiting.of(o.offset, h) {
			stack = append(stack, edge{o.offset, delta, o.kind})
		}
	}
	for h, o := range p.known {
		push(h, o)
	}
	for ; len(stack) > 0; waiting.count-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		e := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		h, o, err := p.follow(e)
		if err != nil {
			return err
		}
		push(h, o)
		p.known[h] = o
	}
	if waiting.count > 0 {
		return errMalformed // deltas against objects that do not exist
	}
	return nil
}

// follow creates an edge's object for the first time.
func (p *pack) follow(e edge) (plumbing.Hash, packed, error) {
	base, err := p.whole(e.base)
	if err != nil {
		return plumbing.ZeroHash, packed{}, err
	}
	data, err := p.apply(base, e.delta, p.spend)
	if err != nil {
		return plumbing.ZeroHash, packed{}, err
	}
	p.bases[e.delta] = e.base
	p.cache.Put(e.delta, data)
	return plumbing.ComputeHash(e.kind, data), packed{offset: e.delta, size: int64(len(data)), kind: e.kind}, nil
}

// whole returns the object at the offset. If a delta's object is not cached any more, it is created again from its
// nearest cached base.
func (p *pack) whole(offset int64) ([]byte, error) {
	var chain []int64
	data, ok := p.cache.Get(offset)
	for !ok {
		chain = append(chain, offset)
		if offset, ok = p.bases[offset]; !ok {
			break
		}
		data, ok = p.cache.Get(offset)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		var err error
		if _, isDelta := p.bases[chain[i]]; isDelta {
			data, err = p.apply(data, chain[i], p.again)
		} else if data, err = p.unpack(chain[i]); err == nil {
			err = p.again(int64(len(data)))
		}
		if err != nil {
			return nil, err
		}
		p.cache.Put(chain[i], data)
	}
	return data, nil
}

// redoneCost is the fixed cost of creating an object again, expressed in bytes.
const redoneCost = 16 << 10

// again must be called before an object is created again. It limits the total: chains of deltas can be built so that
// every read recreates most of the repository.
func (p *pack) again(size int64) error {
	size += redoneCost
	if size > p.redoable {
		return messages.LimitExceeded("the repository's deltas take more than %d times its size to undo; raise --max-bytes, "+
			"or use an archive of it", mostRedone)
	}
	p.redoable -= size
	return nil
}

// apply creates the object of the delta at the offset, if spend allows its size.
func (p *pack) apply(base []byte, offset int64, spend func(size int64) error) ([]byte, error) {
	delta, err := p.unpack(offset)
	if err != nil {
		return nil, err
	}
	size, ok := targetSize(delta)
	if !ok {
		return nil, packfile.ErrInvalidDelta
	}
	if size > p.limits.ObjectBytes {
		return nil, exceededObject(size, p.limits)
	}
	if err := spend(size); err != nil {
		return nil, err
	}
	return packfile.PatchDelta(base, delta)
}

// targetSize reads the second number of a delta, the size of its result. The first is the size of its base.
func targetSize(delta []byte) (int64, bool) {
	_, n := binary.Uvarint(delta)
	if n <= 0 {
		return 0, false
	}
	size, m := binary.Uvarint(delta[n:])
	return int64(size), m > 0 && int64(size) >= 0
}

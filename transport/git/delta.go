package git

import (
	"context"
	"encoding/binary"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

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
		} else {
			data, err = p.root(chain[i])
		}
		if err != nil {
			return nil, err
		}
		p.cache.Put(chain[i], data)
	}
	return data, nil
}

// root unpacks an object that is not a delta.
func (p *pack) root(offset int64) ([]byte, error) {
	data, err := p.unpack(offset)
	if err != nil {
		return nil, err
	}
	return data, p.again(int64(len(data)))
}

// redoneCost is the fixed cost of creating an object again, expressed in bytes.
const redoneCost = 16 << 10

// again must be called before an object is created again. It limits the total: chains of deltas can be built so that
// every read recreates most of the repository.
func (p *pack) again(size int64) error {
	size += redoneCost
	if size > p.redoable {
		return exceeded("the repository's deltas take more than %d times its size to undo; raise --max-bytes, "+
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

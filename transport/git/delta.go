package git

import (
	"context"
	"encoding/binary"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// deltas are the objects of a pack that say how they differ from another, by
// that other: its offset or its hash.
type deltas struct {
	count   int
	byPlace map[int64][]int64
	byHash  map[plumbing.Hash][]int64
}

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

// of takes the deltas against one object.
func (d *deltas) of(offset int64, h plumbing.Hash) []int64 {
	found := append(d.byPlace[offset], d.byHash[h]...)
	delete(d.byPlace, offset)
	delete(d.byHash, h)
	return found
}

// edge leads from an object to one that came as a delta against it.
type edge struct {
	base, delta int64 // offsets
	kind        plumbing.ObjectType
}

// patch looks at the objects that all deltas make, from the bases outwards: each
// delta is applied at least once, whatever the chains look like. What an object
// holds lives no longer than there is room on the shelf.
func (p *pack) patch(ctx context.Context, waiting *deltas) error {
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
		return errMalformed // deltas against what is not there
	}
	return nil
}

// follow makes the object at the end of the edge for the first time.
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
	p.live.put(e.delta, data)
	return plumbing.ComputeHash(e.kind, data), packed{offset: e.delta, size: int64(len(data)), kind: e.kind}, nil
}

// whole is the object at the offset. One that came as a delta and is no longer
// on the shelf is made again, from the nearest of its bases that is.
func (p *pack) whole(offset int64) ([]byte, error) {
	var chain []int64
	data, ok := p.live.get(offset)
	for !ok {
		chain = append(chain, offset)
		if offset, ok = p.bases[offset]; !ok {
			break
		}
		data, ok = p.live.get(offset)
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
		p.live.put(chain[i], data)
	}
	return data, nil
}

// root unpacks an object that is no delta.
func (p *pack) root(offset int64) ([]byte, error) {
	p.live.room(0)
	data, err := p.unpack(offset)
	if err != nil {
		return nil, err
	}
	return data, p.again(int64(len(data)))
}

// redoneCost is what an object costs that is made again, however small it is, in bytes that take as long.
const redoneCost = 16 << 10

// again is asked before an object is made that was made before: chains may be
// laid so that every reading makes most of the repository again.
func (p *pack) again(size int64) error {
	size += redoneCost
	if size > p.redoable {
		return exceeded("the repository's deltas take more than %d times its size to undo; raise --max-bytes, "+
			"or use an archive of it", mostRedone)
	}
	p.redoable -= size
	return nil
}

// apply makes the object that the delta at the offset describes, once spend agrees to its size.
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
	p.live.room(int64(len(delta)) + size)
	return packfile.PatchDelta(base, delta)
}

// targetSize reads the second number of a delta: the first is its base's size.
func targetSize(delta []byte) (int64, bool) {
	_, n := binary.Uvarint(delta)
	if n <= 0 {
		return 0, false
	}
	size, m := binary.Uvarint(delta[n:])
	return int64(size), m > 0 && int64(size) >= 0
}

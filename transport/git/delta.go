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

// base is an object that others are deltas against.
type base struct {
	offset int64
	hash   plumbing.Hash
	data   []byte
}

// patch makes whole objects of all deltas, from the bases outwards: each delta is
// applied once and each base unpacked once, whatever the chains look like.
func (p *pack) patch(ctx context.Context, waiting *deltas) error {
	roots := make([]plumbing.Hash, 0, len(waiting.byPlace)+len(waiting.byHash))
	for h, o := range p.known {
		if len(waiting.byPlace[o.offset])+len(waiting.byHash[h]) > 0 {
			roots = append(roots, h)
		}
	}
	for _, h := range roots {
		if err := p.patchFrom(ctx, h, waiting); err != nil {
			return err
		}
	}
	if waiting.count > 0 {
		return errMalformed // deltas against what is not there
	}
	return nil
}

func (p *pack) patchFrom(ctx context.Context, root plumbing.Hash, waiting *deltas) error {
	o := p.known[root]
	data, err := p.unpack(o.offset)
	if err != nil {
		return err
	}
	stack := []base{{o.offset, root, data}}
	for len(stack) > 0 {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, offset := range waiting.of(b.offset, b.hash) {
			if err := ctx.Err(); err != nil {
				return err
			}
			waiting.count--
			next, err := p.apply(b, o.kind, offset)
			if err != nil {
				return err
			}
			stack = append(stack, next)
		}
	}
	return nil
}

// apply makes the object that the delta at the offset describes.
func (p *pack) apply(b base, kind plumbing.ObjectType, offset int64) (base, error) {
	delta, err := p.unpack(offset)
	if err != nil {
		return base{}, err
	}
	size, ok := targetSize(delta)
	if !ok {
		return base{}, packfile.ErrInvalidDelta
	}
	if size > p.limits.ObjectBytes {
		return base{}, exceededObject(size, p.limits)
	}
	if err := p.spend(size); err != nil {
		return base{}, err
	}
	data, err := packfile.PatchDelta(b.data, delta)
	if err != nil {
		return base{}, err
	}
	h := plumbing.ComputeHash(kind, data)
	p.known[h] = packed{offset: offset, size: size, kind: kind}
	p.patched[h] = data
	return base{offset, h, data}, nil
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

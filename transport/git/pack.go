package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

var errMalformed = errors.New("the pack contradicts itself")

// objectsPerFile is how many objects may come for each file that may be listed:
// itself and, in odd repositories, folders of its own.
const objectsPerFile = 4

// mostRedone times the bytes that may be unpacked may be made again of deltas.
const mostRedone = 16

// pack is a packfile in memory, as it was sent. Objects are unpacked again when
// they are read, and those that came as deltas are made again.
type pack struct {
	sent     chunks
	known    map[plumbing.Hash]packed
	bases    map[int64]int64 // of those that came as deltas, by offset
	limits   Limits
	left     int64 // bytes that may still be unpacked
	redoable int64 // bytes that may still be unpacked once more

	mu   sync.Mutex // for live and redoable
	live shelf
}

type packed struct {
	offset, size int64
	kind         plumbing.ObjectType
}

// receive reads a pack to its end, hashing every object; no size is believed
// before it is held against the limits.
func receive(ctx context.Context, from io.Reader, limits Limits) (*pack, error) {
	p := &pack{
		known: map[plumbing.Hash]packed{}, bases: map[int64]int64{},
		limits: limits, left: limits.UnpackedBytes, redoable: mostRedone * limits.UnpackedBytes,
	}
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
	return p, p.patch(ctx, &waiting)
}

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

// spend is asked before anything is unpacked.
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

// copyObject relies on the scanner to refuse what is longer than it says.
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

// unpack inflates what is at the offset: an object, or a delta as such.
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

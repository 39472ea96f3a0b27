package git

import (
	"bytes"
	queue "container/list"
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

// liveBytes bounds the objects of a pack that are in memory because they, or what is made of them, came as deltas.
const liveBytes = 128 << 20

// shelf keeps unpacked objects by their offsets. The one that was not asked for the longest makes room first.
type shelf struct {
	at    map[int64]*queue.Element
	order queue.List // of shelved, the one asked for last in front
	bytes int64
	peak  int64 // most bytes ever, with those that room was made for
}

type shelved struct {
	offset int64
	data   []byte
}

// What an object costs besides its bytes, roughly.
const shelvedCost = 128

func (s *shelf) get(offset int64) ([]byte, bool) {
	e := s.at[offset]
	if e == nil {
		return nil, false
	}
	s.order.MoveToFront(e)
	return e.Value.(shelved).data, true
}

// room lets go of objects until so many more bytes may live.
func (s *shelf) room(bytes int64) {
	for s.bytes+bytes > liveBytes && s.order.Len() > 0 {
		oldest := s.order.Remove(s.order.Back()).(shelved)
		delete(s.at, oldest.offset)
		s.bytes -= int64(len(oldest.data)) + shelvedCost
	}
	s.peak = max(s.peak, s.bytes+bytes)
}

func (s *shelf) put(offset int64, data []byte) {
	size := int64(len(data)) + shelvedCost
	if s.at[offset] != nil || size > liveBytes {
		return
	}
	s.room(size)
	if s.at == nil {
		s.at = map[int64]*queue.Element{}
	}
	s.at[offset] = s.order.PushFront(shelved{offset, data})
	s.bytes += size
}

package git

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/seed889630bf/lastword/internal/fatal"
	"github.com/seed889630bf/lastword/messages"
)

// packer writes packs, wrong ones too.
type packer struct {
	text  bytes.Buffer
	count uint32
	zip   *zlib.Writer // kept, for a new one is dear
}

// header is the type and size of an object, as they are packed.
func header(kind plumbing.ObjectType, size uint64) []byte {
	out := []byte{byte(kind)<<4 | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		out[len(out)-1] |= 0x80
		out = append(out, byte(size&0x7f))
	}
	return out
}

// add returns the offset of what it adds; says is the size that it is said to have.
func (p *packer) add(kind plumbing.ObjectType, says uint64, between, text []byte) int64 {
	at := int64(12 + p.text.Len())
	p.count++
	p.text.Write(slices.Concat(header(kind, says), between))
	if p.zip == nil {
		p.zip = zlib.NewWriter(nil)
	}
	p.zip.Reset(&p.text)
	_, _ = p.zip.Write(text)
	_ = p.zip.Close()
	return at
}

func (p *packer) object(kind plumbing.ObjectType, text string) (int64, plumbing.Hash) {
	return p.add(kind, uint64(len(text)), nil, []byte(text)), plumbing.ComputeHash(kind, []byte(text))
}

func (p *packer) refDelta(base plumbing.Hash, delta []byte) int64 {
	return p.add(plumbing.REFDeltaObject, uint64(len(delta)), base[:], delta)
}

func (p *packer) offsetDelta(base int64, delta []byte) int64 {
	back := int64(12+p.text.Len()) - base
	distance := []byte{byte(back & 0x7f)}
	for back >>= 7; back > 0; back >>= 7 {
		back--
		distance = append([]byte{byte(back&0x7f) | 0x80}, distance...)
	}
	return p.add(plumbing.OFSDeltaObject, uint64(len(delta)), distance, delta)
}

func (p *packer) pack() []byte {
	out := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), p.count)
	out = append(out, p.text.Bytes()...)
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}

// copies is a delta that repeats the first size bytes of its base, then adds more.
func copies(base, size int, more string) []byte {
	out := binary.AppendUvarint(nil, uint64(base))
	out = binary.AppendUvarint(out, uint64(size+len(more)))
	if size > 0 {
		out = append(out, 0x80|0x70, byte(size), byte(size>>8), byte(size>>16))
	}
	if more != "" {
		out = append(append(out, byte(len(more))), more...)
	}
	return out
}

func unpackAll(text []byte, limits Limits) (*pack, error) {
	return receive(context.Background(), bytes.NewReader(text), limits.orDefaults())
}

func TestDeltasInEveryOrder(t *testing.T) {
	var p packer
	last := plumbing.ComputeHash(plumbing.BlobObject, []byte("base one two"))
	p.refDelta(last, copies(12, 12, " three")) // before its base, itself a delta
	at, id := p.object(plumbing.BlobObject, "base")
	one := p.offsetDelta(at, copies(4, 4, " one"))
	p.offsetDelta(one, copies(8, 8, " two"))
	p.refDelta(id, copies(4, 2, "nana"))
	_, link := p.object(plumbing.TreeObject, "")
	got, err := unpackAll(p.pack(), Limits{})
	must(t, err)
	for _, text := range []string{"base", "base one", "base one two", "base one two three", "banana"} {
		h := plumbing.ComputeHash(plumbing.BlobObject, []byte(text))
		data, err := got.read(plumbing.BlobObject, h)
		size, err2 := got.size(h)
		if string(data) != text || size != int64(len(text)) || errors.Join(err, err2) != nil {
			t.Errorf("%q: read %q of %d, %v", text, data, size, errors.Join(err, err2))
		}
	}
	if _, err := got.read(plumbing.BlobObject, link); !errors.Is(err, plumbing.ErrObjectNotFound) {
		t.Errorf("a tree read as a blob: %v", err)
	}
}

func TestPacksThatContradictThemselves(t *testing.T) {
	good := func(p *packer) (int64, plumbing.Hash) { return p.object(plumbing.BlobObject, "base") }
	for name, spoil := range map[string]func(p *packer){
		"delta without base":     func(p *packer) { p.refDelta(plumbing.NewHash("12"), copies(4, 4, "x")) },
		"offset between objects": func(p *packer) { at, _ := good(p); p.offsetDelta(at+1, copies(4, 4, "x")) },
		"offset before the pack": func(p *packer) { p.offsetDelta(-500, copies(4, 4, "x")) },
		"base of another size":   func(p *packer) { at, _ := good(p); p.offsetDelta(at, copies(5, 4, "x")) },
		"copy past the base":     func(p *packer) { at, _ := good(p); p.offsetDelta(at, copies(4, 9, "x")) },
		"delta cut short":        func(p *packer) { at, _ := good(p); p.offsetDelta(at, copies(4, 4, "xyz")[:4]) },
		"empty delta":            func(p *packer) { at, _ := good(p); p.offsetDelta(at, nil) },
		"target of 2^63": func(p *packer) {
			at, _ := good(p)
			p.offsetDelta(at, binary.AppendUvarint([]byte{4}, 1<<63))
		},
		"longer than it says":     func(p *packer) { p.add(plumbing.BlobObject, 2, nil, []byte("base")) },
		"shorter than it says":    func(p *packer) { p.add(plumbing.BlobObject, 9, nil, []byte("base")) },
		"size of 2^63":            func(p *packer) { p.add(plumbing.BlobObject, 1<<63, nil, []byte("base")) },
		"a kind that is none":     func(p *packer) { p.add(plumbing.ObjectType(5), 4, nil, []byte("base")) },
		"a kind of zero":          func(p *packer) { p.add(plumbing.ObjectType(0), 4, nil, []byte("base")) },
		"fewer objects than said": func(p *packer) { good(p); p.count++ },
		"more objects than said":  func(p *packer) { good(p); good(p); p.count-- },
	} {
		var p packer
		spoil(&p)
		if got, err := unpackAll(p.pack(), Limits{}); err == nil {
			t.Errorf("%s: no error, %d objects", name, len(got.known))
		}
	}
}

// None of these takes more memory or time than the limits say.
func TestBombs(t *testing.T) {
	zeros := strings.Repeat("\x00", 1<<20)
	for name, lay := range map[string]func(p *packer){
		"one that inflates": func(p *packer) { p.object(plumbing.BlobObject, strings.Repeat(zeros, 9)) },
		"many that inflate": func(p *packer) {
			for i := range 9 {
				p.object(plumbing.BlobObject, zeros+fmt.Sprint(i))
			}
		},
		"a delta that inflates": func(p *packer) { p.refDelta(plumbing.NewHash("12"), bytes.Repeat([]byte{0}, 9<<20)) },
		"a size that is said":   func(p *packer) { p.add(plumbing.BlobObject, 1<<50, nil, nil) },
		"a target that is said": func(p *packer) {
			at, _ := p.object(plumbing.BlobObject, "base")
			p.offsetDelta(at, binary.AppendUvarint([]byte{4}, 1<<40))
		},
		"many from one base": func(p *packer) {
			at, _ := p.object(plumbing.BlobObject, zeros)
			for i := range 20 {
				p.offsetDelta(at, copies(1<<20, 1<<20, fmt.Sprint(i)))
			}
		},
		"a chain": func(p *packer) {
			at, _ := p.object(plumbing.BlobObject, zeros)
			for i := range 20 {
				at = p.offsetDelta(at, copies(1<<20+i, 1<<20+i, "x"))
			}
		},
		"many objects": func(p *packer) { p.object(plumbing.BlobObject, "x"); p.count = 1 << 31 },
	} {
		var p packer
		lay(&p)
		_, err := unpackAll(p.pack(), Limits{UnpackedBytes: 8 << 20, ObjectBytes: 4 << 20, Files: 1000})
		if messages.CodeOf(err) != messages.CauseLimitExceeded {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAPackEndsWithItsContext(t *testing.T) {
	var p packer
	p.object(plumbing.BlobObject, "x")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := receive(ctx, bytes.NewReader(p.pack()), Limits{}.orDefaults()); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestChunks(t *testing.T) {
	var c chunks
	text := bytes.Repeat([]byte("0123456789abcdef!"), 50_000)
	for part := range slices.Chunk(text, 70_001) {
		if n, err := c.Write(part); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	got, err := io.ReadAll(io.NewSectionReader(&c, 0, c.size))
	if err != nil || !bytes.Equal(got, text) {
		t.Errorf("read %d of %d bytes, %v", len(got), len(text), err)
	}
	for _, at := range []int64{0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, c.size - 3} {
		p := make([]byte, 3)
		if n, err := c.ReadAt(p, at); n != 3 || err != nil || !bytes.Equal(p, text[at:at+3]) {
			t.Errorf("at %d: %q, %d, %v", at, p, n, err)
		}
	}
	if n, err := c.ReadAt(make([]byte, 2), c.size-1); n != 1 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %d, %v", n, err)
	}
}

// FuzzPack: no pack panics, hangs or gives an object of another hash.
func FuzzPack(f *testing.F) {
	var p packer
	at, id := p.object(plumbing.BlobObject, "base")
	p.offsetDelta(at, copies(4, 4, " one"))
	p.refDelta(id, copies(4, 2, "nana"))
	f.Add(p.text.Bytes(), p.count)
	f.Add(p.text.Bytes()[:30], p.count)
	f.Add([]byte{}, uint32(1<<32-1))
	f.Fuzz(func(t *testing.T, objects []byte, count uint32) {
		p := packer{count: count}
		p.text.Write(objects)
		text := p.pack()
		got, err := unpackAll(text, Limits{UnpackedBytes: 1 << 20, Files: 100})
		if err != nil {
			return
		}
		for h, o := range got.known {
			if data, err := got.read(o.kind, h); err == nil && plumbing.ComputeHash(o.kind, data) != h {
				t.Errorf("%s reads as %q", h, data)
			}
		}
	})
}

// However much the objects hold that came as deltas, no more of it lives than there is room for.
func TestPatchedBytesAreBounded(t *testing.T) {
	const size = 6 << 20
	zeros := strings.Repeat("\x00", size)
	grown := func(n int) string { return zeros + strings.Repeat("x", n) }
	for name, lay := range map[string]func(p *packer) (last int){
		"one base": func(p *packer) int {
			at, _ := p.object(plumbing.BlobObject, zeros)
			for i := range 12 {
				p.offsetDelta(at, copies(size, size, strings.Repeat("x", i+1)))
			}
			return 12
		},
		"a chain, each a base of two": func(p *packer) int {
			at, _ := p.object(plumbing.BlobObject, zeros)
			for i := range 12 {
				p.offsetDelta(at, copies(size+i, size+i, fmt.Sprint("side ", i)))
				at = p.offsetDelta(at, copies(size+i, size+i, "x"))
			}
			return 12
		},
		"bases by hash, the last first": func(p *packer) int {
			for i := 12; i > 0; i-- {
				p.refDelta(plumbing.ComputeHash(plumbing.BlobObject, []byte(grown(i-1))), copies(size+i-1, size+i-1, "x"))
			}
			p.object(plumbing.BlobObject, zeros)
			return 12
		},
	} {
		if testing.Short() && name != "a chain, each a base of two" {
			continue
		}
		var p packer
		last := lay(&p)
		got, err := unpackAll(p.pack(), Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, n := range []int{last, 1, 0} {
			h := plumbing.ComputeHash(plumbing.BlobObject, []byte(grown(n)))
			if data, err := got.read(plumbing.BlobObject, h); err != nil || string(data) != grown(n) {
				t.Errorf("%s: object %d reads as %d bytes, %v", name, n, len(data), err)
			}
		}
	}
}

// A chain whose objects do not live together is not read back and forth without end.
func TestUndoingDeltasIsBounded(t *testing.T) {
	const size = 8 << 20
	zeros := strings.Repeat("\x00", size)
	var p packer
	at, _ := p.object(plumbing.BlobObject, zeros)
	for i := range 30 {
		at = p.offsetDelta(at, copies(size+i, size+i, "x"))
	}
	got, err := unpackAll(p.pack(), Limits{})
	must(t, err)
	got.redoable = 10 * size
	for _, n := range []int{1, 2, 13} {
		h := plumbing.ComputeHash(plumbing.BlobObject, []byte(zeros+strings.Repeat("x", n)))
		_, err = got.read(plumbing.BlobObject, h)
		if limited := messages.CodeOf(err) == messages.CauseLimitExceeded; limited != (n == 13) {
			t.Errorf("the object after %d deltas: %v", n, err)
		}
	}
}

// However long a chain is, its objects are there. Small objects cost what it takes to make them again, which is not their bytes.
func TestUndoingSmallDeltasIsBounded(t *testing.T) {
	var p packer
	at, _ := p.object(plumbing.BlobObject, "base")
	for i := range 1000 {
		at = p.offsetDelta(at, copies(4+i, 4+i, "x"))
	}
	got, err := unpackAll(p.pack(), Limits{})
	must(t, err)
	got.redoable = 1500 * redoneCost
	h := plumbing.ComputeHash(plumbing.BlobObject, []byte("base"+strings.Repeat("x", 1000)))
	for round, limited := range []bool{false, true} {
		got.cache.Clear()
		_, err = got.read(plumbing.BlobObject, h)
		if (messages.CodeOf(err) == messages.CauseLimitExceeded) != limited {
			t.Errorf("round %d: %v", round, err)
		}
	}
}

// FuzzDelta: what a delta makes of a base is what it says, or an error, and of the size that it says.
func FuzzDelta(f *testing.F) {
	f.Add([]byte("base"), copies(4, 4, " one"))
	f.Add([]byte("base"), copies(4, 2, "nana")[:3])
	f.Add([]byte{}, []byte{0, 0})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		var p packer
		at, _ := p.object(plumbing.BlobObject, string(base))
		one := p.offsetDelta(at, delta)
		p.offsetDelta(one, delta)
		got, err := unpackAll(p.pack(), Limits{UnpackedBytes: 1 << 20, Files: 100})
		if err != nil {
			return
		}
		for h, o := range got.known {
			data, err := got.read(o.kind, h)
			if err != nil || int64(len(data)) != o.size || plumbing.ComputeHash(o.kind, data) != h {
				t.Errorf("%s of %d bytes reads as %q, %v", h, o.size, data, err)
			}
		}
	})
}

var must = fatal.IfError

// A pack of less than two kilobytes that unpacks into as much as the limits allow costs a process at most 250 MB.
func TestMemoryOfAHostilePack(t *testing.T) {
	if os.Getenv("LASTWORD_TEST_PACK") == "" { // its own process, without what other tests have taken
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), "LASTWORD_TEST_PACK=1", "GOGC=50") // the race detector makes the collector late
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	var p packer
	const size = 1 << 20
	at, _ := p.object(plumbing.BlobObject, strings.Repeat("\x00", size))
	for i := range 8 { // as large as an object may be
		delta := binary.AppendUvarint(binary.AppendUvarint(nil, size), 31*size+uint64(i)+1)
		for range 31 {
			delta = append(delta, 0x80|0x70, 0, 0, size>>16)
		}
		p.offsetDelta(at, append(append(delta, byte(i)+1), make([]byte, i+1)...))
	}
	text := p.pack()
	if len(text) > 1900 {
		t.Fatalf("the pack has %d bytes", len(text))
	}
	_, err := unpackAll(text, Limits{})
	must(t, err)
	var took runtime.MemStats // without the memory of the race detector
	runtime.ReadMemStats(&took)
	if t.Log(took.Sys); took.Sys > 250_000_000 {
		t.Errorf("the process took %d bytes", took.Sys)
	}
}

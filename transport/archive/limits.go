package archive

import "github.com/seed889630bf/lastword/messages"

// Limits bounds the reading of an archive; a zero field takes its default. Time is bounded by the context.
type Limits struct {
	WireBytes     int64 // of the archive itself, default 256 MiB
	UnpackedBytes int64 // unpacked, whether kept or not, default 2 GiB
	FileBytes     int64 // of one file; a larger one is listed without its contents; default 1 MiB
	Ratio         int   // unpacked bytes for each byte on the wire once 16 MiB are unpacked, default 100
	Files         int   // entries that are no folders, and as many folders, default 200,000
	Depth         int   // folders above a file, default 128
	PathBytes     int   // of a path or a link's target, default 4,096
}

// ratioFrom is how many unpacked bytes it takes for the ratio to count: small files that compress well do no harm.
const ratioFrom = 16 << 20

func (l Limits) withDefaults() Limits {
	fill(&l.WireBytes, 256<<20)
	fill(&l.UnpackedBytes, 2<<30)
	fill(&l.FileBytes, 1<<20)
	fill(&l.Ratio, 100)
	fill(&l.Files, 200_000)
	fill(&l.Depth, 128)
	fill(&l.PathBytes, 4096)
	return l
}

func fill[N int | int64](field *N, value N) {
	if *field <= 0 {
		*field = value
	}
}

func exceeded(format string, args ...any) error {
	return messages.Errorf(messages.CauseLimitExceeded, format, args...)
}

// budget applies the limits while an archive is unpacked.
type budget struct {
	Limits
	wire     *wire
	streamed int64 // bytes that the decompressor gave
	kept     int64 // bytes of files, and of the holes in sparse ones
	entries  int
	folders  int
}

func (b *budget) stream(n int64) error {
	b.streamed += n
	return b.check(b.streamed)
}

func (b *budget) keep(n int64) error {
	b.kept += n
	return b.check(b.kept)
}

func (b *budget) check(n int64) error {
	if n > b.UnpackedBytes {
		return exceeded("the archive unpacks to more than %d bytes; --max-bytes raises the limit", b.UnpackedBytes)
	}
	if n > ratioFrom && n/int64(b.Ratio) > b.wire.done {
		return exceeded("the archive unpacks to more than %d times its size, as those do that are made to fill disks; "+
			"if you trust it, unpack it and name the folder (--max-bytes does not change this limit)", b.Ratio)
	}
	return nil
}

func (b *budget) entry() error {
	b.entries++
	if b.entries > b.Files {
		return tooMany(b.Files)
	}
	return nil
}

func tooMany(files int) error {
	return exceeded("the archive holds more than %d files; --max-files raises the limit", files)
}

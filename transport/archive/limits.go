package archive

import "github.com/seed889630bf/lastword/messages"

// Limits bound the reading of an archive. Fields that are zero take their defaults. The context limits the time.
type Limits struct {
	WireBytes     int64 // size of the archive; default 256 MiB
	UnpackedBytes int64 // total unpacked size, including what is not kept; default 2 GiB
	FileBytes     int64 // size of one file; a larger one is listed without content; default 1 MiB
	Ratio         int   // unpacked bytes per transferred byte, from 16 MiB on; default 100
	Files         int   // number of files, and of folders; default 200,000
	Depth         int   // number of folders above a file; default 128
	PathBytes     int   // length of a path or of a link's target; default 4,096
}

// ratioFrom is the unpacked size from which on the ratio is checked. Small files that compress well do no harm.
const ratioFrom = 16 << 20

// withDefaults replaces the limits that are not set.
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

// fill sets a field that is not positive.
func fill[N int | int64](field *N, value N) {
	if *field <= 0 {
		*field = value
	}
}

func exceeded(format string, args ...any) error {
	return messages.Errorf(messages.CauseLimitExceeded, format, args...)
}

// budget enforces the limits while an archive is unpacked.
type budget struct {
	Limits
	wire     *wire
	streamed int64 // bytes from the decompressor
	kept     int64 // bytes of files, including holes in sparse files
	entries  int   // entries other than folders
	folders  int   // folders that the paths of entries need
}

func (b *budget) keep(n int64) error {
	b.kept += n
	return b.check(b.kept)
}

// check refuses archives that unpack to too much, in total or compared with their size. Small files may have any ratio.
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

// entry counts an entry that is no folder.
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

package archive

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/seed889630bf/lastword/messages"
)

// kind is the format of an archive, as its first bytes show.
type kind uint8

const (
	tarred kind = iota
	gzipped
	bzipped
	zipped
)

const (
	block     = 512        // size of a tar block
	gzipMagic = "\x1f\x8b" // the first bytes of a gzip file
)

// sniff returns the format without consuming bytes of r.
func sniff(r *bufio.Reader) (kind, error) {
	head, err := r.Peek(block)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	has := func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) }
	switch {
	case has(gzipMagic):
		return gzipped, nil
	case has("BZh"):
		return bzipped, nil
	case has("PK\x03\x04"), has("PK\x05\x06"), has("PK\x07\x08"):
		return zipped, nil
	case isTar(head):
		return tarred, nil
	}
	return 0, unknown(head)
}

// unknown returns the error for a format that is not supported. It names the format if the first bytes show it.
func unknown(head []byte) error {
	for magic, name := range map[string]string{
		"\xfd7zXZ\x00": "xz", "\x28\xb5\x2f\xfd": "zstd", "LZIP": "lzip", "7z\xbc\xaf\x27\x1c": "7-Zip", "Rar!": "RAR",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return messages.InvalidInput("the archive is compressed with %s, which is not read; use its .tar.gz or .zip, "+
				"or unpack it and name the folder", name)
		}
	}
	text := strings.ToLower(string(bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))))
	switch {
	case len(head) == 0:
		return messages.InvalidInput("the archive is empty")
	case strings.HasPrefix(text, "<!doctype html"), strings.HasPrefix(text, "<html"):
		return messages.InvalidInput("this is a web page, not an archive; give the address of the .tar.gz or .zip itself, " +
			"and a token where the server asks people to log in")
	}
	return messages.InvalidInput("this is not an archive; .tar, .tar.gz, .tar.bz2 and .zip are read")
}

// isTar verifies the header's checksum, because the oldest tar format has no magic bytes. An empty archive consists of
// zeros.
func isTar(head []byte) bool {
	if len(head) < block {
		return false
	}
	if len(bytes.Trim(head, "\x00")) == 0 {
		return true
	}
	const from, to = 148, 156
	want, err := strconv.ParseInt(strings.Trim(string(head[from:to]), " \x00"), 8, 64)
	sum := int64(to-from) * ' '
	for i, b := range head[:block] {
		if i < from || i >= to {
			sum += int64(b)
		}
	}
	return err == nil && sum == want
}

// decompress returns a reader of the content. It is r itself if the content is not compressed.
func (k kind) decompress(r *bufio.Reader) (io.Reader, error) {
	switch k {
	case gzipped:
		m := &members{new(gzip.Reader), r}
		return m, m.reset()
	case bzipped:
		return bzip2.NewReader(r), nil
	}
	return r, nil
}

// members reads concatenated gzip members and ignores padding after the last one, as the gzip program does.
type members struct {
	*gzip.Reader
	packed *bufio.Reader
}

// Read goes on with the next member at the end of one.
func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.Reader.Read(p)
		if n > 0 && errors.Is(err, io.EOF) {
			return n, nil // the next call meets io.EOF again
		}
		if n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		if err := m.next(); err != nil {
			return 0, err
		}
	}
}

// next starts the next member. The error is io.EOF if there is none.
func (m *members) next() error {
	head, err := m.packed.Peek(len(gzipMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(head) != gzipMagic {
		return io.EOF
	}
	return m.reset()
}

// reset starts a member. It turns off the library's own handling of several members, which fails at padding.
func (m *members) reset() error {
	err := m.Reset(m.packed)
	m.Multistream(false)
	return err
}

package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"github.com/seed889630bf/lastword/actors/journal"
	"github.com/seed889630bf/lastword/messages"
)

const (
	blockColumns = "first, last, id, epoch, writer, terminal, before, digest, body"
	insertBlock  = "INSERT INTO blocks (run, opening, " + blockColumns + ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
	// selectBlocks reads the log of a run by its id in the database.
	selectBlocks = "SELECT " + blockColumns + " FROM blocks WHERE run = ? ORDER BY first"
	selectLast   = selectBlocks + " DESC LIMIT 1"
)

// insert adds a block to a log. body is the encoding of b.Lines.
func insert(exec exec, number, opening int64, b *journal.StoredBlock, body []byte) error {
	id := b.ID[:]
	if b.ID == (journal.BlockID{}) {
		id = id[:0]
	}
	_, err := exec(insertBlock, number, opening, int64(b.First), int64(b.Last), id, int64(b.Epoch), b.Writer, b.Terminal,
		b.Before[:], b.Digest[:], body)
	return err
}

// scanBlock scans a row of blockColumns.
func scanBlock(row interface{ Scan(...any) error }) (b journal.StoredBlock, err error) {
	var id, before, digest []byte
	var body blob
	if err = row.Scan(&b.First, &b.Last, &id, &b.Epoch, &b.Writer, &b.Terminal, &before, &digest, &body); err != nil {
		return b, err
	}
	if len(id) != copy(b.ID[:], id) || len(before) != copy(b.Before[:], before) || len(digest) != copy(b.Digest[:], digest) {
		return b, errBody
	}
	b.Lines, err = lines(body)
	return b, err
}

// blob is a column that is not copied: this driver makes a slice for each row.
type blob []byte

// Scan implements [sql.Scanner].
func (b *blob) Scan(column any) error {
	*b, _ = column.([]byte)
	return nil
}

// Blocks implements [journal.Reader].
func (s *store) Blocks(ctx context.Context, run messages.RunID) iter.Seq2[journal.StoredBlock, error] {
	return func(yield func(journal.StoredBlock, error) bool) {
		var number int64
		err := s.db.QueryRowContext(ctx, "SELECT id FROM runs WHERE run = ?", string(run)).Scan(&number)
		if errors.Is(err, sql.ErrNoRows) {
			err = journal.ErrNotFound(run)
		}
		if err != nil {
			yield(journal.StoredBlock{}, explained(s.dir, err))
			return
		}
		blocksOf(ctx, s.db, number)(func(b journal.StoredBlock, err error) bool { return yield(b, explained(s.dir, err)) })
	}
}

// blocksOf yields the blocks of a run by its id in the database.
func blocksOf(ctx context.Context, db interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, number int64) iter.Seq2[journal.StoredBlock, error] {
	return func(yield func(journal.StoredBlock, error) bool) {
		rows, err := db.QueryContext(ctx, selectBlocks, number)
		if err != nil {
			yield(journal.StoredBlock{}, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			b, err := scanBlock(rows)
			if err != nil {
				err = fmt.Errorf("the block %d..%d: %w", b.First, b.Last, err)
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(journal.StoredBlock{}, err)
		}
	}
}

// errBody means that the body of a block is not a list of lines.
var errBody = errors.New("a block's length is wrong")

// lines splits a body into lines, which share its memory.
func lines(body []byte) (all [][]byte, err error) {
	for len(body) > 0 {
		n, head := binary.Uvarint(body)
		if head <= 0 || n > uint64(len(body)-head) {
			return nil, errBody
		}
		all, body = append(all, body[head:head+int(n)]), body[head+int(n):]
	}
	return all, nil
}

// framed returns how many bytes of a body a line takes.
func framed(line []byte) int { return len(binary.AppendUvarint(nil, uint64(len(line)))) + len(line) }

// bodyOf returns the body of a block: for each line, its length as a varint, and the line.
func bodyOf(lines [][]byte) (body []byte) {
	for _, line := range lines {
		body = append(binary.AppendUvarint(body, uint64(len(line))), line...)
	}
	return body
}

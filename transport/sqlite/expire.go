package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

// removedAtOnce is how many logs one transaction removes: appends wait for it.
const removedAtOnce = 16

// Expire implements [actors.Journal]. The bytes are those of the events as the database holds them: the file itself
// does not shrink, and uses its free pages again.
func (j *Journal) Expire(ctx context.Context, before time.Time, bytes int64) (left int, err error) {
	expired, left, err := j.expired(ctx, before, bytes)
	if err != nil {
		return 0, explained(j.dir, err)
	}
	for len(expired) > 0 {
		n := min(len(expired), removedAtOnce)
		if err := j.remove(ctx, expired[:n]); err != nil {
			return 0, err
		}
		expired = expired[n:]
	}
	return left, nil
}

// expired returns the numbers of the runs to remove, and how many others have ended.
func (j *Journal) expired(ctx context.Context, before time.Time, bytes int64) (numbers []int64, left int, err error) {
	var total int64
	row := j.db.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(bytes), 0) FROM runs WHERE ended = 1")
	if err := row.Scan(&left, &total); err != nil {
		return nil, 0, err
	}
	rows, err := j.db.QueryContext(ctx, "SELECT id, updated_at, bytes FROM runs WHERE ended = 1 ORDER BY updated_at, id")
	if err != nil {
		return nil, 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var number, updated, size int64
		if err := rows.Scan(&number, &updated, &size); err != nil {
			return nil, 0, err
		}
		if !time.Unix(0, updated).Before(before) && total <= bytes {
			break
		}
		numbers, left, total = append(numbers, number), left-1, total-size
	}
	return numbers, max(left, 0), rows.Err()
}

func (j *Journal) remove(ctx context.Context, numbers []int64) error {
	return j.writer.execute(ctx, func(exec exec) error {
		for _, number := range numbers {
			if _, err := exec("DELETE FROM runs WHERE id = ?", number); err != nil {
				return err
			}
			if _, err := exec("DELETE FROM blocks WHERE run = ?", number); err != nil {
				return err
			}
		}
		return nil
	})
}

// Forget implements [actors.Journal].
func (j *Journal) Forget(ctx context.Context, run messages.RunID) error {
	var number int64
	var ended bool
	err := j.db.QueryRowContext(ctx, "SELECT id, ended FROM runs WHERE run = ?", string(run)).Scan(&number, &ended)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return errNotFound(run)
	case err != nil:
		return explained(j.dir, err)
	case !ended:
		return messages.Errorf(messages.CodeConflict, "run %s has not ended; cancel it first", run)
	}
	return j.remove(ctx, []int64{number})
}

package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"time"
)

// Rows returns the small values of a part by name: what a server keeps beside its runs.
func (j *store) Rows(ctx context.Context, part string) (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	err := each(ctx, j.db, "SELECT name, value FROM rows WHERE part = ?", func(rows *sql.Rows) error {
		var name, value string
		err := rows.Scan(&name, &value)
		all[name] = json.RawMessage(value)
		return err
	}, part)
	return all, explained(j.dir, err)
}

// SetRows stores values of a part in one transaction, and leaves the part's other values.
func (j *Journal) SetRows(ctx context.Context, part string, values map[string]json.RawMessage) error {
	_, err := j.writer.execute(ctx, func(exec exec) error {
		for name, value := range values {
			if _, err := exec("INSERT OR REPLACE INTO rows VALUES (?, ?, ?)", part, name, string(value)); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// Row returns one value of a part, or nil if there is none.
func (j *Journal) Row(ctx context.Context, part, name string) (json.RawMessage, error) {
	var value string
	err := j.db.QueryRowContext(ctx, "SELECT value FROM rows WHERE part = ? AND name = ?", part, name).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return json.RawMessage(value), explained(j.dir, err)
}

// DropRows removes those values of a part whose member used, in seconds since 1970, is before the time.
func (j *Journal) DropRows(ctx context.Context, part string, before time.Time) error {
	_, err := j.writer.execute(ctx, func(exec exec) error {
		_, err := exec("DELETE FROM rows WHERE part = ? AND json_extract(value, '$.used') < ?", part, before.Unix())
		return err
	})
	return err
}

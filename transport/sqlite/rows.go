package sqlite

import (
	"context"
	"encoding/json"
)

// Rows returns the small values of a part by name: what a server keeps beside its runs.
func (j *Journal) Rows(ctx context.Context, part string) (map[string]json.RawMessage, error) {
	rows, err := j.db.QueryContext(ctx, "SELECT name, value FROM rows WHERE part = ?", part)
	if err != nil {
		return nil, explained(j.dir, err)
	}
	defer rows.Close()
	all := map[string]json.RawMessage{}
	for rows.Next() {
		var name, value string
		if err := rows.Scan(&name, &value); err != nil {
			return nil, explained(j.dir, err)
		}
		all[name] = json.RawMessage(value)
	}
	return all, explained(j.dir, rows.Err())
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

package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

const (
	mostValue = 4 * messages.MaxEventBytes // bytes of a value in a database
	// mostLooking limits the search for greater values in a large database.
	mostLooking = 500 * time.Millisecond
)

// plain refuses a directory in which something else than a file has the name of one of the journal's: a link of a
// stranger's could lead to any file of the user, which would be written over.
func plain(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if Owns(e.Name()) && !e.Type().IsRegular() {
			return messages.InvalidInput("%s is a link or no file, and lastword has not made it; remove it, or choose another folder",
				filepath.Join(dir, e.Name()))
		}
	}
	return err
}

// distrust refuses a database that has something else than its migrations make, such as a view, a trigger or a value that
// is computed, or a value that would fill the memory: strangers may have made it. It reads no data before.
func distrust(dir string, db *sql.DB) error {
	theirs, version, err := schemaOf(db)
	if err != nil {
		return err
	}
	own, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return err
	}
	defer own.Close()
	own.SetMaxOpenConns(1) // each connection has its own database
	for _, text := range migrations[:min(max(version, 0), len(migrations))] {
		if _, err := own.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	ours, _, err := schemaOf(own)
	if err != nil {
		return err
	}
	var tables []string
	for _, name := range slices.Sorted(maps.Keys(theirs)) {
		if ours[name] != theirs[name] {
			return messages.InvalidInput("%s is not one that lastword has made: it has the %s; choose another folder",
				filepath.Join(dir, databaseFile), name)
		}
		if table, is := strings.CutPrefix(name, "table "); is {
			tables = append(tables, strings.Trim(table, `"`))
		}
	}
	return tooLarge(dir, db, tables)
}

// schemaOf returns the version of a database, and the statements that have made what it has, by its kind and name.
func schemaOf(db *sql.DB) (statements map[string]string, version int, err error) {
	statements = map[string]string{}
	err = each(ctx, db, "SELECT user_version, type, name, substr(sql, 1, 10000) FROM sqlite_schema, pragma_user_version WHERE sql IS NOT NULL", func(rows *sql.Rows) error {
		var kind, name, text string
		err := rows.Scan(&version, &kind, &name, &text)
		statements[fmt.Sprintf("%s %q", kind, name)] = text
		return err
	})
	return statements, version, err
}

// tooLarge looks for values over mostValue where the file has room for them.
func tooLarge(dir string, db *sql.DB, tables []string) error {
	var size int64
	for _, name := range []string{databaseFile, databaseFile + "-wal"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			size += info.Size()
		}
	}
	if size <= mostValue {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, mostLooking)
	defer cancel()
	for _, table := range tables { // the names are ours
		var columns string
		err := db.QueryRowContext(ctx, "SELECT group_concat('length(\"' || replace(name, '\"', '\"\"') || '\") > ' || ?, ' OR ') FROM pragma_table_info(?)",
			mostValue, table).Scan(&columns)
		var found bool
		if err == nil {
			err = db.QueryRowContext(ctx, fmt.Sprintf("SELECT EXISTS (SELECT 1 FROM %s WHERE %s)", table, columns)).Scan(&found)
		}
		switch {
		case found:
			return messages.LimitExceeded("%s has a value of more than %d MiB in its table %s; choose another folder",
				filepath.Join(dir, databaseFile), mostValue>>20, table)
		case ctx.Err() != nil:
			return nil // it has no such value so far
		case err != nil:
			return err
		}
	}
	return nil
}

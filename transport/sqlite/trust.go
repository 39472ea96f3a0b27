package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/seed889630bf/lastword/messages"
)

const (
	mostValue = 4 * messages.MaxEventBytes // bytes of a value in a database
	// mostLooking limits the search for greater values in a large database.
	mostLooking = 500 * time.Millisecond
)

// made matches the beginning of what a migration makes, with its kind and name.
var made = regexp.MustCompile(`CREATE (?:UNIQUE )?(TABLE|INDEX|TRIGGER) (\w+)`)

// distrust refuses a database that has something else than the migrations make, such as a view or a trigger, or a value
// that would fill the memory: strangers may have made it. It reads no data before.
func distrust(dir string, db *sql.DB) error {
	ours := map[string]string{}
	for _, text := range migrations {
		for _, m := range made.FindAllStringSubmatch(text, -1) {
			ours[strings.ToLower(m[1])+" "+m[2]] = text
		}
	}
	rows, err := db.QueryContext(ctx, "SELECT type, name, substr(coalesce(sql, ''), 1, 10000) FROM sqlite_schema WHERE sql IS NOT NULL")
	if err != nil {
		return err
	}
	defer rows.Close()
	var tables []string
	for rows.Next() {
		var kind, name, text string
		if err := rows.Scan(&kind, &name, &text); err != nil {
			return err
		}
		own, known := ours[kind+" "+name]
		if !known || kind == "trigger" && !strings.Contains(own, text) || kind == "table" && generated.MatchString(text) {
			return messages.InvalidInput("%s is not one that lastword has made: it has the %s %q; choose another folder",
				filepath.Join(dir, databaseFile), kind, name)
		}
		if kind == "table" {
			tables = append(tables, name)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return tooLarge(dir, db, tables)
}

// generated matches tables whose values are computed when they are read.
var generated = regexp.MustCompile(`(?i)\bVIRTUAL\b|\bGENERATED\b|\bAS\s*\(`)

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
			return messages.Errorf(messages.CauseLimitExceeded, "%s has a value of more than %d MiB in its table %s; choose another folder",
				filepath.Join(dir, databaseFile), mostValue>>20, table)
		case ctx.Err() != nil:
			return nil // it has no such value so far
		case err != nil:
			return err
		}
	}
	return nil
}

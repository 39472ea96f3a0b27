package main

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// stale is the age from which a database of vulnerabilities says too little.
const stale = 30 * 24 * time.Hour

// vuln looks for known vulnerabilities in what is called. Its argument is a copy of the database, a folder or a zip file;
// without one it asks the network.
func vuln(args []string) error {
	tool, err := exec.Command("go", "-C", lab, "tool", "-n", "govulncheck").Output()
	if err != nil {
		return err
	}
	var flags []string
	if len(args) > 0 {
		dir, remove, err := database(args[0])
		if err != nil {
			return err
		}
		defer remove()
		flags = []string{"-db", "file://" + dir}
	}
	err = run("", strings.TrimSpace(string(tool)), append(flags, "./...")...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != 3 && len(args) == 0 {
		fmt.Fprintln(os.Stderr, "Nothing is known: https://vuln.go.dev could not be asked; VULNDB=vulndb.zip needs no network.")
	}
	return err
}

// database returns the folder of the copy, unpacked if it is a zip file, and says how old it is.
func database(path string) (dir string, remove func(), err error) {
	remove = func() {}
	if dir = path; strings.HasSuffix(path, ".zip") {
		if dir, err = os.MkdirTemp("", ""); err != nil {
			return "", nil, err
		}
		remove = func() { os.RemoveAll(dir) }
		archive, err := zip.OpenReader(path)
		if err != nil {
			return "", nil, err
		}
		defer archive.Close()
		if err := os.CopyFS(dir, archive); err != nil {
			return "", nil, err
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "index/db.json"))
	if err != nil {
		return "", nil, fmt.Errorf("%s is no copy of the database: %w", path, err)
	}
	var index struct{ Modified time.Time }
	if err := json.Unmarshal(data, &index); err != nil {
		return "", nil, fmt.Errorf("%s: %w", path, err)
	}
	fmt.Println("The database is of", index.Modified.Format(time.DateOnly))
	if time.Since(index.Modified) > stale {
		fmt.Fprintln(os.Stderr, "The database is old: fetch https://vuln.go.dev/vulndb.zip again.")
	}
	dir, err = filepath.Abs(dir)
	return dir, remove, err
}

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// vuln looks for known vulnerabilities in what is called.
func vuln([]string) error {
	tool, err := exec.Command("go", "-C", lab, "tool", "-n", "govulncheck").Output()
	if err != nil {
		return err
	}
	err = run("", strings.TrimSpace(string(tool)), "./...")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() != 3 {
		fmt.Fprintln(os.Stderr, "Nothing is known: https://vuln.go.dev could not be asked.")
	}
	return err
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// install installs packages of Debian whose programs are missing. Its arguments are PROGRAM=PACKAGE[,PACKAGE].
func install(args []string) error {
	var missing []string
	for _, arg := range args {
		program, packages, _ := strings.Cut(arg, "=")
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, strings.Split(packages, ",")...)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	fmt.Fprintln(os.Stderr, "The tests need", strings.Join(missing, " "), "- installing with apt-get.")
	apt := []string{"apt-get"}
	if os.Getuid() != 0 {
		apt = []string{"sudo", "-n", "apt-get"}
	}
	for _, command := range [][]string{{"update", "-qq"}, append([]string{"install", "-y", "-qq", "--no-install-recommends"}, missing...)} {
		if err := run("", apt[0], append(apt[1:], command...)...); err != nil {
			return fmt.Errorf("install %s and run make again: %w", strings.Join(missing, " "), err)
		}
	}
	return nil
}

// node requires Node of a version or newer, with npm.
func node(args []string) error {
	out, err := exec.Command("node", "--version").Output()
	if err == nil {
		_, err = exec.LookPath("npm")
	}
	least, _ := strconv.Atoi(args[0])
	major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
	if have, _ := strconv.Atoi(major); err != nil || have < least {
		return fmt.Errorf("node %d or newer with npm is needed, and %q was found: install it from https://nodejs.org/", least, strings.TrimSpace(string(out)))
	}
	return nil
}

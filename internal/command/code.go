package command

import (
	"path"
	"slices"
	"strings"
)

// interpreter is a row about programs that take some of their arguments for code, or for the name of code. The table is
// a help for operators and not a wall: a program that is not in it may read code as well.
type interpreter struct {
	names string // of programs, without version
	takes string // letters of options with a value that is no code
	code  string // letters and names of options whose value is code
	skip  int    // operands before those that are code
	most  int    // operands that are code, unless an option has the code; -1 is all
	late  bool   // options may follow operands
	wraps bool   // its operands hold another program with its arguments
	how   string // a value gets there safely; "" if only an enum is safe
}

const argument = "pass it as an argument after the code, and let the code read "

var interpreters = []interpreter{
	{names: "sh bash rbash dash ash zsh ksh mksh yash fish csh tcsh", takes: "oO", most: 1, how: argument + `"$1", as in [sh, -c, 'echo "$1"', sh, "{x}"]`},
	{names: "python ipython pypy", takes: "WX", code: "c m", most: 1, how: argument + "sys.argv[1]"},
	{names: "node nodejs tsx ts-node", code: "e p r pe eval print require import loader", most: 1, how: argument + "process.argv[1]"},
	{names: "deno bun", code: "e p r eval print preload", most: 2, how: "write the code into a file, and pass it as an argument of that"},
	{names: "perl", takes: "I", code: "e E", most: 1, how: argument + "$ARGV[0]"},
	{names: "ruby", takes: "ICEW", code: "e r", most: 1, how: argument + "ARGV[0]"},
	{names: "php", takes: "dcz", code: "r f B R F E run file", most: 1, how: argument + "$argv[1]"},
	{names: "lua luajit tclsh wish expect rscript osascript", code: "e l c", most: 1, how: argument + "its arguments"},
	{names: "awk gawk mawk nawk", takes: "Fv", code: "f e i E source file include exec", most: 1, how: `pass it as a variable, as in [awk, -v, "x={x}", '...']`},
	{names: "sed gsed", takes: "l", code: "e f expression file", most: 1, late: true},
	{names: "make gmake cmd powershell pwsh watch parallel", most: -1, late: true},
	{names: "ssh", takes: "BbcDEeIiJLlmOPpQRSWw", code: "o F", skip: 1, most: -1},
	{names: "su runuser script", takes: "gGsuw", code: "c command session-command", late: true},
	{names: "env", takes: "uC", code: "S split-string", most: 1, wraps: true},
	{names: "xargs", takes: "adEILnPs", most: 1, wraps: true},
	{names: "find", code: "exec execdir ok okdir", late: true, wraps: true},
	{names: "sudo doas nohup nice time setsid stdbuf ionice busybox", takes: "CDghpRrTtUucnioe", most: 1, wraps: true},
	{names: "timeout flock chroot", takes: "ksw", code: "c command", skip: 1, most: 1, wraps: true},
	{names: "docker podman nerdctl kubectl unshare nsenter strace", wraps: true, late: true},
}

// interpreterOf returns the row of the table for a program, or nil.
func interpreterOf(program string) *interpreter {
	name := strings.ToLower(path.Base(strings.ReplaceAll(program, `\`, "/")))
	name = strings.TrimRight(strings.TrimSuffix(name, ".exe"), "0123456789.-")
	i := slices.IndexFunc(interpreters, func(p interpreter) bool { return slices.Contains(strings.Fields(p.names), name) })
	if i < 0 || name == "" {
		return nil
	}
	return &interpreters[i]
}

// codeIn calls found for each argument that would make a value code, with the program that would run it. A program that
// is not in the table may start one that is, with an option such as -c.
func codeIn(arguments []template, found func(i int, p *interpreter)) {
	wraps := true
	for i, t := range arguments {
		p := interpreterOf(t[0])
		if p == nil || len(t) > 1 || !wraps {
			continue
		}
		if i == 0 || interpreterOf(arguments[0][0]) != nil || i+1 < len(arguments) && strings.HasPrefix(arguments[i+1][0], "-") {
			p.codeIn(arguments, i+1, func(i int) { found(i, p) })
		}
		wraps = p.wraps || i > 0
	}
}

// codeIn looks at the arguments of one program, which begin at i.
func (p *interpreter) codeIn(arguments []template, i int, found func(i int)) {
	operands, most := 0, p.most
	for ; i < len(arguments); i++ {
		t := arguments[i]
		held := len(t) > 1
		switch option, code := p.option(t[0]); {
		case !option:
			if strings.Contains(t[0], "=") && p.wraps {
				continue // a variable
			}
			if operands++; held && operands > p.skip && (most < 0 || operands <= p.skip+most) {
				found(i)
			}
			if !p.late && most >= 0 && operands >= p.skip+most {
				return
			}
		case code:
			if most = 0; held {
				found(i)
			} else if next := i + 1; next < len(arguments) && !strings.Contains(t[0], "=") && !strings.HasPrefix(arguments[next][0], "-") {
				if i = next; len(arguments[i]) > 1 {
					found(i)
				}
			}
		case !held && !strings.HasPrefix(t[0], "--") && strings.IndexAny(t[0], p.takes) == len(t[0])-1:
			i++ // the value of the last letter
		case held && most != 0 && !strings.Contains(p.takes, t[0][1:2]):
			found(i)
		}
	}
}

// option reports whether the text is an option, and whether code follows it.
func (p *interpreter) option(text string) (option, code bool) {
	name := strings.TrimLeft(text, "-+")
	if name == text || name == "" {
		return text == "--", false
	}
	codes := strings.Fields(p.code)
	if long, _, _ := strings.Cut(name, "="); slices.Contains(codes, long) {
		return true, true
	}
	short := !strings.HasPrefix(text, "--") && !strings.Contains(p.takes, name[:1])
	return true, short && (slices.Contains(codes, name[:1]) || slices.Contains(codes, name[len(name)-1:]))
}
